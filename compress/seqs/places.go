package seqs

import (
	"cmp"
	"math/bits"

	"orcomgo/bins/record"
	"orcomgo/compress/mixing"
	rc "orcomgo/compress/rangecoder"
)

// A second mate whose distance from the first one, in bases of the pseudogenome and in the direction of the first one, is
// at least -windowBack and less than 2^windowBits - windowBack is coded by that distance.
const (
	windowBits = 13
	windowBack = 1 << 11
)

// unplaced is the position of a read without a place.
const unplaced = ^uint32(0)

// strandCounts is how many weights there are for the strand statistics of a region: one for each count of these.
const strandCounts = strandMemory + 1

// strandRate is how fast these weights learn: see mixing.Step.
const strandRate = 4

// strandMemory is the limit of the counts of strand statistics.
const strandMemory = 60

// places are the positions and strands of one column's reads.
type places struct {
	pos []uint32 // or unplaced
	rev []bool
}

// placeModel codes the places of a slice.
type placeModel struct {
	tree   *positions
	sorted bool
	// choice says that reads begin, in a sorted slice, at their left ends, whatever their strands; in others, at known places. Decoding, it is
	// decoded.
	choice bool
	placed [4]rc.Prob
	strand []rc.Prob // by region
	// strandWeight is the weight of a region's strand statistics, in 1/65536, by their count.
	strandWeight      [strandCounts]int32
	order             *placeOrder
	known             *knownValues // where reads began: in group 0 all, in others those of a length
	mateAgain         [2]rc.Prob
	mateNear          [2]rc.Prob
	matePlaced        [2][2]rc.Prob
	mateStrandDiffers rc.Prob
	distance          rc.Tree
}

func newPlaceModel(tree *positions, sorted bool) *placeModel {
	m := &placeModel{tree: tree, sorted: sorted, strand: rc.NewProbs(1 << 14),
		mateStrandDiffers: rc.NewProb, distance: rc.NewTree(windowBits)}
	for i := range m.strandWeight {
		m.strandWeight[i] = 1 << 15
	}
	if sorted {
		m.order = newPlaceOrder()
	} else {
		m.known = newKnownValues()
	}
	rc.FillProbs(m.placed[:])
	rc.FillProbs(m.mateAgain[:])
	rc.FillProbs(m.mateNear[:])
	for i := range m.matePlaced {
		rc.FillProbs(m.matePlaced[i][:])
	}
	return m
}

// strandOf codes the strand of a read at pos. Reads of one region often have the same strand (stranded libraries), so there are statistics
// for each 256 bases. Their weight, by their count, is learnt as well: in most libraries it falls to nothing.
func (m *placeModel) strandOf(c *rc.Coder, pos uint32, rev bool) bool {
	r := &m.strand[(pos>>8)*0x9e3779b1>>18]
	w := &m.strandWeight[min(r.Count(), strandCounts-1)]
	x := int64(mixing.Stretch(r.P()))
	p := mixing.Predict(int64(*w) * x)
	bit := c.AnyBit(rc.BitOf(rev), p)
	mixing.Move(w, x, mixing.Step(bit, p, strandRate))
	r.Update(bit, strandMemory)
	return bit != 0
}

// placeOrder codes where the reads of a sorted slice begin. Of reads of different lengths that is the left end of their place or, reversed,
// its right end: reads whose other end was cut off begin where others do.
type placeOrder struct {
	again []rc.Prob                  // that a read begins where the last one does, by their lengths, the steps, and how many do already
	step  [2][stepClasses]*rc.Number // from where the last read begins, by its strand and the steps

	start uint32 // where the last read begins
	rev   bool   // its strand
	n     int    // its length
	reads uint32 // how many reads begin there, with the last one
	steps uint32 // the average of steps, in sixteenths of a base
}

// stepClasses is how many classes of the average of steps there are.
const stepClasses = 30

func newPlaceOrder() *placeOrder {
	// The first read may begin at 0, on either strand.
	o := &placeOrder{start: ^uint32(0), rev: true, again: rc.NewProbs(3 * stepClasses * 32)}
	for i := range o.step {
		for j := range o.step[i] {
			o.step[i][j] = rc.NewNumber()
		}
	}
	return o
}

// class returns the class of the average of steps.
func (o *placeOrder) class() int { return min(bits.Len32(o.steps), stepClasses-1) }

// next codes where the next read, of n bases, begins, and its strand by strandOf. again says that the last one begins there, too.
func (o *placeOrder) next(c *rc.Coder, start uint32, rev bool, n int,
	strandOf func(start uint32, rev bool) bool) (_ uint32, _, again bool) {
	if o.reads > 0 {
		p := &o.again[((1+cmp.Compare(n, o.n))*stepClasses+o.class())<<5|min(halfOctaves(o.reads), 31)]
		again = c.AdaptAny(rc.BitOf(start == o.start && rev == o.rev), p, longMemory) != 0
	}
	o.n = n
	if again {
		o.reads++
		return o.start, o.rev, true
	}
	least := uint32(rc.BitOf(o.rev)) // of the step: at one place the forward strand comes first
	d := least + o.step[least][o.class()].Code(c, start-o.start-least, longMemory)
	o.start, o.reads = o.start+d, 1
	o.steps += min(d, 1<<24) - o.steps>>4
	o.rev = d == 0 || strandOf(o.start, rev)
	return o.start, o.rev, false
}

// halfOctaves returns twice the logarithm of x, rounded down; x is at least 1.
func halfOctaves(x uint32) int {
	n := bits.Len32(x)
	return 2*n - 2 + int(x<<1>>(n-1)&1)
}

// code codes the places of the reads of first, and of mate if it is not nil; those of first have these lengths. After the
// first of coders come those of lanes, if there are any. It returns false if a decoded position is not below limit.
func (m *placeModel) code(coders []*rc.Coder, first, mate *places, lengths record.Lengths, limit uint64) bool {
	c, lanes := coders[0], coders[min(1, len(coders)-1):] // without lanes, c is the only one
	var tree *pages
	if !m.sorted || mate != nil {
		tree = m.tree.paged()
	}
	m.choice = c.Uniform(uint32(rc.BitOf(m.choice)), 1) != 0
	ctx, ctx2, ctx3 := 3, 1, 0
	for i := range first.pos {
		p := c.Adapt(rc.BitOf(first.pos[i] != unplaced), &m.placed[ctx], shortMemory)
		ctx = ctx<<1&3 | p
		if p == 0 {
			first.pos[i] = unplaced
		}
	}
	if !m.sorted && !m.choice {
		tree.codePlaced(lanes, first.pos)
	}
	for i := range first.pos {
		p := rc.BitOf(first.pos[i] != unplaced)
		again := false
		switch {
		case p == 0:
		case m.sorted:
			again = m.codeSorted(c, &first.pos[i], &first.rev[i], lengths.Of(i))
		case m.choice:
			m.codeKnown(c, tree, &first.pos[i], &first.rev[i], lengths.Of(i))
		default:
			first.rev[i] = m.strandOf(c, first.pos[i], first.rev[i])
		}
		if p != 0 && uint64(first.pos[i]) >= limit {
			return false
		}
		if mate == nil {
			continue
		}
		if again && i > 0 && mate.pos[i-1] != unplaced {
			ctx3 = c.Adapt(rc.BitOf(mate.is(i, i-1)), &m.mateAgain[ctx3], shortMemory)
			if ctx3 != 0 {
				mate.pos[i], mate.rev[i] = mate.pos[i-1], mate.rev[i-1]
				continue
			}
		}
		if p != 0 {
			d := int64(mate.pos[i]) - int64(first.pos[i])
			if first.rev[i] {
				d = -d
			}
			near := mate.pos[i] != unplaced && d >= -windowBack && d < 1<<windowBits-windowBack
			if c.Adapt(rc.BitOf(near), &m.mateNear[ctx2], shortMemory) != 0 {
				ctx2 = 1
				d = int64(m.distance.Code(c, uint32(d+windowBack), longMemory)) - windowBack
				if first.rev[i] {
					d = -d
				}
				x := int64(first.pos[i]) + d
				if x < 0 || uint64(x) >= limit {
					return false
				}
				mate.pos[i] = uint32(x)
				differs := c.Adapt(rc.BitOf(mate.rev[i] != first.rev[i]), &m.mateStrandDiffers, longMemory) != 0
				mate.rev[i] = differs != first.rev[i]
				continue
			}
			ctx2 = 0
		}
		if c.Adapt(rc.BitOf(mate.pos[i] != unplaced), &m.matePlaced[p][ctx2], shortMemory) == 0 {
			mate.pos[i] = unplaced
			continue
		}
		mate.pos[i] = tree.codeOne(c, mate.pos[i])
		if uint64(mate.pos[i]) >= limit {
			return false
		}
		mate.rev[i] = m.strandOf(c, mate.pos[i], mate.rev[i])
	}
	return true
}

// codeSorted codes the place of the next read, of n bases, of a sorted slice, and returns whether the last one begins at the same one.
// If a read of a corrupt stream would not fit there, its place is outside of the pseudogenome.
func (m *placeModel) codeSorted(c *rc.Coder, pos *uint32, rev *bool, n int) (again bool) {
	toEnd := n
	if m.choice {
		toEnd = 0
	}
	start := startOf(*pos, *rev, toEnd)
	start, *rev, again = m.order.next(c, start, *rev, n, func(start uint32, rev bool) bool { return m.strandOf(c, start, rev) })
	*pos = posOf(start, *rev, toEnd)
	return again
}

// codeKnown codes the place of a read of n bases in a slice that is not sorted: if reads of its length began there before, as one of
// their places; else, if others did, as one of theirs; else by the tree.
func (m *placeModel) codeKnown(c *rc.Coder, tree *pages, pos *uint32, rev *bool, n int) {
	group := 1 + uint32(n)
	begin, known := m.known.code(c, group, placeKey(startOf(*pos, *rev, n), *rev))
	if !known {
		if begin, known = m.known.code(c, 0, begin); !known {
			*pos = tree.codeOne(c, *pos)
			*rev = m.strandOf(c, *pos, *rev)
			begin = placeKey(startOf(*pos, *rev, n), *rev)
			m.known.add(c, 0, begin)
		}
		m.known.add(c, group, begin)
	}
	*rev = begin&1 != 0
	*pos = posOf(uint32(begin>>1), *rev, n)
}

// placeKey returns a position and a strand as a number.
func placeKey(pos uint32, rev bool) uint64 { return uint64(pos)<<1 | uint64(rc.BitOf(rev)) }

// startOf returns where a read of n bases with a place begins: how many bases of the pseudogenome are before its first base or, reversed,
// before the one to the right of it.
func startOf(pos uint32, rev bool, n int) uint32 {
	if rev {
		return pos + uint32(n)
	}
	return pos
}

// posOf is the inverse of startOf.
func posOf(start uint32, rev bool, n int) uint32 {
	if rev {
		return start - uint32(n)
	}
	return start
}

// newPlaces returns places of n reads, to be set.
func newPlaces(n int) *places { return &places{make([]uint32, n), make([]bool, n)} }

// is reports whether reads i and j have the same place.
func (p *places) is(i, j int) bool { return p.pos[i] == p.pos[j] && p.rev[i] == p.rev[j] }

// keys returns the places of the reads that have one.
func (p *places) keys() []uint64 {
	keys := make([]uint64, 0, len(p.pos))
	for i, pos := range p.pos {
		if pos != unplaced {
			keys = append(keys, placeKey(pos, p.rev[i]))
		}
	}
	return keys
}

// sorted reports whether the reads, of these lengths, are in the order of their left ends, or of where they begin.
func (p *places) sorted(lengths record.Lengths) bool {
	byLeft, byBegin, left, begin := true, true, uint64(0), uint64(0)
	for i, pos := range p.pos {
		if pos == unplaced {
			continue
		}
		nextLeft, next := placeKey(pos, p.rev[i]), placeKey(startOf(pos, p.rev[i], lengths.Of(i)), p.rev[i])
		byLeft, byBegin = byLeft && nextLeft >= left, byBegin && next >= begin
		left, begin = nextLeft, next
	}
	return byLeft || byBegin
}

// manyRepeat: in a slice that is not sorted, places are coded as known ones if there is at most one place for so many reads.
const manyRepeat = 4

// repeat reports whether there is at most one place for manyRepeat reads, given the places of all. Places whose hashes are equal, fewer
// than one in 128, are counted once.
func repeat(keys []uint64) bool {
	most := len(keys) / manyRepeat
	size := bits.Len(uint(most)) + 7
	seen := make([]uint64, 1<<size/64)
	for _, key := range keys {
		h := key * 0x9e3779b97f4a7c15 >> (64 - size)
		if bit := uint64(1) << (h & 63); seen[h>>6]&bit == 0 {
			seen[h>>6] |= bit
			most--
		}
		if most < 0 {
			return false
		}
	}
	return true
}
