package basemodel

import (
	"math/bits"
	"slices"

	"orcomgo/compress/rangecoder"
)

// The model predicts one base (0..3) as two binary decisions, mixing in the logistic domain what
// eight contexts predict: the last 1, 2, 3, 4, 6 and 9 bases, what a match with earlier bases predicts (match.go), and
// that with the last two bases. The contexts of 6 and 9 bases also learn from the other strand, so that inverted repeats are
// predicted (as in GeCo; Pratas, Pinho, Ferreira, DCC 2016).
//
// A context is a node of three counters. All nodes are in one table and all eight of a base are mixed and
// updated at once, by vector instructions where the processor has them (mix.go). Cache lines are fetched before
// they are needed: contexts that differ in their last base alone share a line, and the other strand is learnt a few bases later.

const (
	orders = 6          // contexts of the last bases
	lanes  = orders + 2 // contexts
	// strandOrder is the index of the lowest order that learns from the other strand: those below have seen all of their contexts soon.
	strandOrder = 4
	// strandLag is how many bases follow one before the other strand learns from it.
	strandLag = 3
	// registerBases is how many bases the registers of the last bases hold.
	registerBases = 32
)

// contextOrders are the orders of the contexts of the last bases.
var contextOrders = [orders]uint{1, 2, 3, 4, 6, 9}

// Where the contexts' nodes begin in the table.
const (
	nodes1     = 0
	nodes2     = nodes1 + 1<<2
	nodes3     = nodes2 + 1<<4
	nodes4     = nodes3 + 1<<6
	nodes6     = nodes4 + 1<<8
	nodes9     = nodes6 + 1<<12
	nodesMatch = nodes9 + 1<<18
	nodesJoint = nodesMatch + matchNodes
	nodeCount  = nodesJoint + jointNodes
)

// jointNodes is how many nodes the joint context has: what a match predicts, by its class, and the last two bases.
const (
	predictions = 1 + 4*(matchClasses-1)
	jointNodes  = predictions * 16
)

// nodeStart gives the nodes of the contexts of the last bases.
var nodeStart = [orders]uint32{nodes1, nodes2, nodes3, nodes4, nodes6, nodes9}

// weightSets is the number of weight sets of a quality class: one for each class of the match.
const weightSets = matchClasses

// qualityClasses is the number of quality classes. Each has its own weight sets, because contexts predict bases of low quality badly.
const qualityClasses = 8

// QualityClass returns the class of a quality, which is a byte of FASTQ, Phred + 33.
func QualityClass(q byte) uint32 { return uint32(min(max(int(q)-33, 0)/6, qualityClasses-1)) }

// Parts of the context of a base, a number that has all of its contexts but those of the last bases: the set of weights, then the node of
// the joint context and that of the match, among their kind.
const (
	setMask    = qualityClasses*weightSets - 1
	jointShift = 6
	jointMask  = 1<<9 - 1
	matchShift = jointShift + 9
)

// Model is an adaptive model of a sequence of bases. It is not safe for concurrent use.
type Model struct {
	// Models are used side by side. What a processor fetches ahead, up to the end of a page, must not be another's. With
	// the eight bytes that the allocator puts before, the vectors of mix are aligned.
	_     [120]byte
	mix   mixer
	_     [128]byte // while it is encoded, another thread may use the rest
	match match
	hist  history
	at    int    // place of the next base in the history
	h, r  uint64 // the last bases, newest lowest; and their reverse complement, newest highest

	slot, word uint32   // of the match's table and of the history: fetched ahead of their use
	block      *block   // memory for prepare; nil until that needs it
	prepared   prepared // memory for Encode
	origin     *Model   // of which this is a clone; nil if it is none, or one that is not used again
	clones     clones
	_          [4096]byte
}

// newModel returns a fresh model for n bases.
func newModel(n int) *Model {
	m := &Model{hist: newHistory(n)}
	m.match.makeTable(n)
	m.mix.init()
	m.moveTo(0, false)
	return m
}

// moveTo makes `at` the place of the next base. The last bases are those before it in the history if they are known, else none.
func (m *Model) moveTo(at int, known bool) {
	m.at, m.h, m.r = at, 0, 0
	from := at
	if known {
		from = max(at-registerBases, 0)
	}
	for i := from; i < at; i++ {
		m.h, m.r = shiftIn(m.h, m.r, byte(m.hist.at(i)))
	}
	m.match.at, m.match.misses, m.match.firstEnd = -1, 0, max(at+1, from+matchLen)
	m.match.pending = [4]candidate{}
	m.slot, m.word = 0, 0
}

// shiftIn appends b to the last bases and their reverse complement.
func shiftIn(h, r uint64, b byte) (uint64, uint64) {
	return h<<2 | uint64(b), r>>2 | uint64(3-b)<<(2*(registerBases-1))
}

// appendPeer enters bases that another model coded in the history, the first at place `from`. They can be matched from then on; the
// counters and weights do not learn from them.
func (m *Model) appendPeer(from int, bases []byte) {
	m.moveTo(from, true)
	m.hist.setAll(from, bases)
	h, r := m.h, m.r
	var slots, ends [blockBases]uint32
	for at := from; len(bases) > 0; {
		k, n := 0, min(len(bases), blockBases)
		for _, b := range bases[:n] {
			h, r = shiftIn(h, r, b)
			if indexed(at) && at >= matchLen-1 {
				c := m.match.candidate(h, r)
				slots[k], ends[k] = c.slot, uint32(at)<<1|c.reverse
				k++
			}
			at++
		}
		prefetchAll(m.match.slots, slots[:k])
		for i, slot := range slots[:k] {
			m.match.slots[slot] = ends[i]
		}
		bases = bases[n:]
	}
}

// Equal reports whether the models predict the same from here on: whether all that they have learnt is equal.
func (m *Model) Equal(o *Model) bool {
	a, b := &m.match, &o.match
	return slices.Equal(m.mix.nodes, o.mix.nodes) && slices.Equal(m.mix.weights, o.mix.weights) &&
		slices.Equal(m.hist.words, o.hist.words) && slices.Equal(a.slots, b.slots) && m.at == o.at && m.h == o.h && m.r == o.r &&
		a.at == b.at && a.step == b.step && a.misses == b.misses && a.firstEnd == b.firstEnd && a.pending == b.pending
}

// Decode decodes bases. quals are their qualities, bytes of FASTQ; nil if there are none. The model must have room for the bases.
func (m *Model) Decode(d *rangecoder.Decoder, bases, quals []byte) {
	class := uint32(0)
	for i := range bases {
		if quals != nil {
			class = QualityClass(quals[i])
		}
		context := m.match.context(uint32(m.h), class)
		m.mix.predict(m.h, context, &m.match.slots[m.slot], &m.hist.words[m.word])
		b := d.DecodePair(&m.mix.p)
		m.mix.learn(m.h, m.r, context, uint32(b))
		m.h, m.r = shiftIn(m.h, m.r, b)
		m.hist.set(m.at, uint32(b))
		m.at++
		m.slot, m.word = m.match.update(&m.hist, m.at, uint32(b), m.h, m.r)
		bases[i] = b
	}
}

// context returns the context of the base after the last bases h, which has a quality of a class.
func (m *match) context(h, class uint32) uint32 {
	c := class*weightSets + h&15<<jointShift
	if m.at >= 0 {
		c += matchContexts[bits.LeadingZeros64(m.misses)>>1*33+bits.OnesCount64(m.misses)] + m.predicted*(1<<matchShift+16<<jointShift)
	}
	return c
}
