package basemodel

import (
	"reflect"
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
// they are needed: contexts that differ in their last base alone share a line, and updates of the other strand are delayed.

const (
	orders = 6          // contexts of the last bases
	lanes  = orders + 2 // contexts
	// strandOrder is the index of the lowest order that learns from the other strand: those below have seen all of their contexts soon.
	strandOrder = 4
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

// nodeStart and nodeMask give the nodes of the contexts of the last bases. Those of the match and the joint context are added for
// each base.
var (
	nodeStart = [lanes]uint32{nodes1, nodes2, nodes3, nodes4, nodes6, nodes9, nodesMatch, nodesJoint}
	nodeMask  = [lanes]uint32{1<<2 - 1, 1<<4 - 1, 1<<6 - 1, 1<<8 - 1, 1<<12 - 1, 1<<18 - 1}
)

// strandUpdate is an update of contexts by the other strand, which is delayed until the cache lines have been fetched.
type strandUpdate struct {
	node [orders - strandOrder]uint32
	base [orders - strandOrder]uint8
}

// find sets the update after a base. old is h of Model before that base, r is r after it. On the other strand, the complements of the
// newest bases, newest first, are followed by the complement of the base before them.
func (q *strandUpdate) find(old, r uint64) {
	for i := range q.node {
		k := contextOrders[strandOrder+i]
		q.node[i], q.base[i] = nodeStart[strandOrder+i]+uint32(r>>(2*(registerBases-k))), uint8(3-old>>(2*k-2)&3)
	}
}

// strandLag is how many bases later an update by the other strand is made.
const strandLag = 4

// noUpdate updates two nodes that no context uses.
var noUpdate = strandUpdate{node: [orders - strandOrder]uint32{nodeCount, nodeCount + 1}}

// Model is an adaptive model of a sequence of bases. It is not safe for concurrent use.
type Model struct {
	// Models are used side by side. What a processor fetches ahead, up to the end of a page, must not be another's. With
	// the eight bytes that the allocator puts before, the vectors of mix are aligned.
	_     [120]byte
	mix   mixer
	_     [128]byte // while it is encoded, another thread may use the rest
	match match
	hist  history
	at    int // place of the next base in the history

	qualityWeights uint32 // first of the weight sets of the next base's quality; 0 if there is none

	h, r    uint64                  // the last bases, newest lowest; and their reverse complement, newest highest
	delayed [strandLag]strandUpdate // of the last bases
	pending bool                    // the mixer has yet to learn the last base, which it does when it predicts the next one
	last    uint32                  // the last base

	slot, word uint32 // of the match's table and of the history: fetched ahead of their use
	block      *block // memory for encodeBlock; nil until that needs it
	origin     *Model // of which this is a clone; nil if it is none, or one that is not used again
	clones     *clones
	_          [4096]byte
}

// newModel returns a fresh model for n bases.
func newModel(n int) *Model {
	m := &Model{hist: newHistory(n), match: newMatch(n), clones: new(clones)}
	m.mix.init()
	m.moveTo(0, false)
	return m
}

// moveTo makes `at` the place of the next base. The last bases are those before it in the history if they are known, else none.
func (m *Model) moveTo(at int, known bool) {
	m.at, m.h, m.r, m.pending = at, 0, 0, false
	from := at
	if known {
		from = max(at-registerBases, 0)
	}
	for i := from; i < at; i++ {
		m.shiftIn(m.hist.at(i))
	}
	for i := range m.delayed {
		m.delayed[i] = noUpdate
	}
	m.match.restart(at, from)
	m.slot, m.word = 0, 0
}

// shiftIn appends b to the last bases.
func (m *Model) shiftIn(b uint32) {
	m.h = m.h<<2 | uint64(b)
	m.r = m.r>>2 | uint64(3-b)<<(2*(registerBases-1))
}

// appendPeer enters bases that another model coded in the history, the first at place `from`. They can be matched from then on; the
// counters and weights do not learn from them.
func (m *Model) appendPeer(from int, bases []byte) {
	m.moveTo(from, true)
	m.hist.setAll(from, bases)
	m.at = from + len(bases)
	h, r := m.h, m.r
	var slots, ends [blockBases]uint32
	for at := from; len(bases) > 0; {
		k, n := 0, min(len(bases), blockBases)
		for _, v := range bases[:n] {
			b := uint64(v)
			h = h<<2 | b
			r = r>>2 | (3-b)<<(2*(registerBases-1))
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
	a, b := *m, *o
	if !slices.Equal(a.mix.nodes, b.mix.nodes) || !slices.Equal(a.mix.weights, b.mix.weights) ||
		!slices.Equal(a.hist.words, b.hist.words) || !slices.Equal(a.match.slots, b.match.slots) {
		return false
	}
	for _, m := range []*Model{&a, &b} {
		m.mix.nodes, m.mix.weights, m.hist.words, m.match.slots, m.block, m.origin, m.clones = nil, nil, nil, nil, nil, nil, nil
	}
	return reflect.DeepEqual(&a, &b)
}

// Code encodes base b (0 to 3), or decodes and returns the next base, and learns it. The model must have room for the base.
func (m *Model) Code(c *rangecoder.Coder, b byte) byte {
	if c.Dec != nil {
		return m.decode(c.Dec)
	}
	m.encode(c.Enc, b)
	return b
}

func (m *Model) encode(e *rangecoder.Encoder, b byte) {
	m.predict()
	encodeBases(e, []byte{b}, [][4]uint32{m.mix.p})
	m.update(uint32(b))
}

func (m *Model) decode(d *rangecoder.Decoder) byte {
	m.predict()
	b := d.DecodePair(&m.mix.p)
	m.update(uint32(b))
	return b
}

// predict learns the last base, finds the contexts of the next one and predicts it.
func (m *Model) predict() {
	p, joint, set := m.matchContext(uint32(m.h))
	if !m.pending {
		m.pending = true
		m.mix.set = set
		m.mix.predict(uint32(m.h), p, joint)
		return
	}
	// The update by the other strand is the oldest one, whose cache lines have been fetched by now.
	n := m.mix.nodes
	m.mix.advance(m.last, &m.delayed[m.at&3], set, uint32(m.h), p, joint,
		&n[m.delayed[(m.at-1)&3].node[orders-1-strandOrder]], &n[nodes9+m.h<<2&(1<<18-1)], &m.match.slots[m.slot], &m.hist.words[m.word])
}

// matchContext returns what the match says about the next base after the last bases h: the indices of the match's node and the joint node
// among their kind, and the weights that are used.
func (m *Model) matchContext(h uint32) (node, joint, set uint32) {
	a := &m.match
	set = m.qualityWeights
	if a.at >= 0 {
		s := a.state()
		node = uint32(s.node)<<2 + 4 + a.predicted
		c := uint32(s.class)
		set += c
		joint = c<<2 - 3 + a.predicted
	}
	return node, joint<<4 | h&15, set
}

// update moves the model past base b, whose decisions were predicted as in m.mix.p.
func (m *Model) update(b uint32) {
	q := &m.delayed[m.at&3]
	old := m.h
	m.shiftIn(b)
	m.hist.set(m.at, b)
	m.at++
	m.last = b
	q.find(old, m.r)
	m.slot, m.word = m.match.update(&m.hist, m.at, b, m.h, m.r)
}

// weightSets is the number of weight sets of a quality class: one for each class of the match.
const weightSets = matchClasses

// qualityClasses is the number of quality classes. Each has its own weight sets, because contexts predict bases of low quality badly.
const qualityClasses = 8

// SetQuality sets the quality (as a byte of FASTQ, Phred + 33) of the next bases that are coded. It is for models that Clone
// returned.
func (m *Model) SetQuality(q byte) { m.qualityWeights = qualityClass(q) * weightSets }

// qualityClass returns the class of a quality.
func qualityClass(q byte) uint32 { return uint32(min(max(int(q)-33, 0)/6, qualityClasses-1)) }
