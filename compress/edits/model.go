package edits

import (
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

// layout codes where the pieces of reads are.
type layout struct {
	bases uint64

	count   [3]*rc.Number // of pieces, by that of the read before
	before  [2]*rc.Number // literal bases before a piece, by whether it is the first one
	last    rc.Prob       // whether the last piece ends where the read ends
	after   *rc.Number    // literal bases after the last piece
	length  *rc.Number    // bases of the read in a piece that is not the last one
	strand  rc.Prob
	near    [2]rc.Prob // whether a piece is near the one before, by whether the last one that has another before it was
	forward rc.Prob    // whether the distance of a near piece is 0 or positive
	step    *rc.Number
	density []rc.Prob // newDensity

	pieces    uint32 // of the read before
	wasNear   int
	following uint64 // where the shared sequence goes on after the last piece; may be below 0
	reverse   bool   // of the last piece
}

// nearBases is how far a near piece is at most from where the one before ends.
const nearBases = 1 << 16

func newLayout(o *Options) *layout {
	m := &layout{bases: o.Bases, last: rc.NewProb, strand: rc.NewProb, forward: rc.NewProb, after: rc.NewNumber(), length: rc.NewNumber(),
		step: rc.NewNumber(), density: newDensity()}
	for i := range m.count {
		m.count[i] = rc.NewNumber()
	}
	for i := range m.before {
		m.before[i] = rc.NewNumber()
	}
	rc.FillProbs(m.near[:])
	return m
}

// pieceCount codes the number of pieces of a read.
func (m *layout) pieceCount(c *rc.Coder, n uint32) uint32 {
	m.pieces = m.count[min(m.pieces, 2)].Code(c, n, shortMemory)
	return m.pieces
}

// bounds codes which bases of the read a piece has: where the one before ends, or 0, and the length of the read are known. When decoding,
// start <= end <= length need not hold.
func (m *layout) bounds(c *rc.Coder, first, last bool, at, length, start, end uint32) (uint32, uint32) {
	start = at + m.before[rc.BitOf(first)].Code(c, start-at, shortMemory)
	switch {
	case !last:
		end = start + m.length.Code(c, end-start, shortMemory)
	case c.Adapt(rc.BitOf(end == length), &m.last, shortMemory) != 0:
		end = length
	default:
		end = length - m.after.Code(c, length-end, shortMemory)
	}
	return start, end
}

// place codes the anchor and the strand of a piece. gap is the number of literal bases before it.
func (m *layout) place(c *rc.Coder, first bool, gap uint32, anchor uint64, reverse bool) (uint64, bool) {
	if first {
		return m.anywhere(c, anchor), c.Adapt(rc.BitOf(reverse), &m.strand, shortMemory) != 0
	}
	expected := m.following + uint64(gap)
	if m.reverse {
		expected = m.following - uint64(gap)
	}
	d := int64(anchor - expected)
	near := reverse == m.reverse && d > -nearBases && d < nearBases
	if m.wasNear = c.Adapt(rc.BitOf(near), &m.near[m.wasNear], shortMemory); m.wasNear != 0 {
		return m.distance(c, expected, anchor), m.reverse
	}
	return m.anywhere(c, anchor), c.Adapt(rc.BitOf(reverse), &m.strand, shortMemory) != 0
}

// after notes where the last piece ends: the base of the shared sequence that would follow it.
func (m *layout) end(following uint64, reverse bool) { m.following, m.reverse = following, reverse }

// distance codes a position by its distance from another.
func (m *layout) distance(c *rc.Coder, from, to uint64) uint64 {
	if c.Adapt(rc.BitOf(int64(to-from) >= 0), &m.forward, shortMemory) != 0 {
		return from + uint64(m.step.Code(c, uint32(to-from), longMemory))
	}
	return from - uint64(m.step.Code(c, uint32(from-to), longMemory))
}

// densityBits is how many bits of a position, the highest ones, have probabilities that learn where reads are frequent.
const densityBits = 12

// newDensity returns the probabilities of the highest bits of positions, by node of their tree. They learn slowly, since most reads are
// spread evenly.
func newDensity() []rc.Prob {
	const firstCount = 20
	p := make([]rc.Prob, 1<<densityBits)
	for i := range p {
		p[i] = rc.NewProb | firstCount
	}
	return p
}

// positionBits returns the number of bits of a position.
func positionBits(bases uint64) int { return bits.Len64(max(bases, 1) - 1) }

// anywhere codes a position of the shared sequence. The one that is decoded may be beyond its end.
func (m *layout) anywhere(c *rc.Coder, position uint64) uint64 {
	node := 1
	k := positionBits(m.bases)
	x := uint64(0)
	for ; k > 0 && node < len(m.density); k-- {
		bit := c.Adapt(int(position>>(k-1)&1), &m.density[node], shortMemory)
		node = node<<1 | bit
		x = x<<1 | uint64(bit)
	}
	return x<<k | uint64(c.Uniform(uint32(position)&(1<<k-1), k))
}

// operations codes what the edits are.
type operations struct {
	kind       [classCount / kindLevels][2]rc.Prob // by class, the levels taken together
	transition [4]rc.Prob                          // by the base that is replaced
	other      [4]rc.Prob
	inserted   [4 * 3 * 4]rc.Prob // by the next base and the place in a run
	longer     [deletionSteps]rc.Prob
	long       *rc.Number
}

// deletionSteps is how many deleted bases have a decision each whether there are more; the number of the others is a number.
const deletionSteps = 8

func newOperations() *operations {
	m := &operations{long: rc.NewNumber()}
	for i := range m.kind {
		rc.FillProbs(m.kind[i][:])
	}
	rc.FillProbs(m.transition[:])
	rc.FillProbs(m.other[:])
	rc.FillProbs(m.inserted[:])
	rc.FillProbs(m.longer[:])
	return m
}

// runOf returns the run class of a class.
func runOf(class uint32) uint8 { return uint8(class / states % runClasses) }

// kindLevels is how many levels have the same probabilities of kinds.
const kindLevels = 4

// kindOf codes the kind of an edit of a class.
func (m *operations) kindOf(c *rc.Coder, class uint32, kind uint8) uint8 {
	level := class / (runClasses * states)
	p := &m.kind[class-(level-level/kindLevels)*runClasses*states]
	if c.Adapt(rc.BitOf(kind == Substitution), &p[0], longMemory) != 0 {
		return Substitution
	}
	if c.Adapt(rc.BitOf(kind == Insertion), &p[1], longMemory) != 0 {
		return Insertion
	}
	return Deletion
}

// substituted codes the base that is in place of t[at].
func (m *operations) substituted(c *rc.Coder, t []byte, at int, b byte) byte {
	r := t[at]
	if c.Adapt(rc.BitOf((b-r)&3 == 2), &m.transition[r], longMemory) != 0 {
		return (r + 2) & 3
	}
	if c.Adapt(rc.BitOf((b-r)&3 == 3), &m.other[r], longMemory) != 0 {
		return (r + 3) & 3
	}
	return (r + 1) & 3
}

// insertion codes a base that is inserted before t[at], whose class by run is given.
func (m *operations) insertion(c *rc.Coder, t []byte, at int, run uint8, b byte) byte {
	place := 0 // in no run
	switch {
	case run&1 != 0:
		place = 1
	case run > 0:
		place = 2
	}
	p := m.inserted[(int(t[at])*3+place)*4:][:4]
	hi := c.Adapt(int((b-t[at])>>1&1), &p[1], longMemory)
	lo := c.Adapt(int((b-t[at])&1), &p[2+hi], longMemory)
	return (t[at] + byte(2*hi+lo)) & 3
}

// deleted codes how many bases are deleted, at least 1.
func (m *operations) deleted(c *rc.Coder, n int) int {
	for k := 1; ; k++ {
		if k > deletionSteps {
			return k + int(m.long.Code(c, uint32(n-k), shortMemory))
		}
		if c.Adapt(rc.BitOf(n > k), &m.longer[k-1], longMemory) == 0 {
			return k
		}
	}
}
