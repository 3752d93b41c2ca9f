package seqs

// The base model predicts one base (0..3) as two binary decisions, mixing in the logistic domain what
// eight contexts say: the last 2, 4, 6, 8 and 10 bases, what two matches with earlier bases predict (match.go), and
// what both predict together. The contexts that see few bases are taught the other strand too, so that
// inverted repeats are known (as in GeCo; Pratas, Pinho, Ferreira, DCC 2016).
//
// A context is a node of three counters. All nodes are in one table and all eight of a base are mixed and
// taught at once, by vector instructions where the processor has them (mix.go). Cache lines are fetched before
// they are needed: contexts that differ in their last base alone share a line, and updates of the other strand wait.

const (
	nCount = 5 // contexts of the last bases
	nMatch = 2
	lanes  = nCount + nMatch + 1
	// strandOrder is the index of the lowest order that is taught the other strand: those below see enough of one.
	strandOrder = 3
	longest     = 32 // bases that the history words hold
)

// countOrders are the orders of the contexts of the last bases.
var countOrders = [nCount]uint{2, 4, 6, 8, 10}

// Where the contexts' nodes begin in the table.
const (
	nodes2     = 0
	nodes4     = nodes2 + 1<<4
	nodes6     = nodes4 + 1<<8
	nodes8     = nodes6 + 1<<12
	nodes10    = nodes8 + 1<<16
	nodesMatch = nodes10 + 1<<20
	nodesBoth  = nodesMatch + nMatch*matchNodes
	nodesAll   = nodesBoth + bothNodes
)

// bothNodes is the square of the number of predictions by class: four bases in seven classes, or none.
const (
	predictions = 1 + 4*(classes-1)
	bothNodes   = predictions * predictions
)

// nodeStart and nodeMask give the contexts of the last bases; the rest is set for each base.
var (
	nodeStart = [lanes]uint32{nodes2, nodes4, nodes6, nodes8, nodes10, nodesMatch, nodesMatch + matchNodes, nodesBoth}
	nodeMask  = [lanes]uint32{1<<4 - 1, 1<<8 - 1, 1<<12 - 1, 1<<16 - 1, 1<<20 - 1}
)

// otherStrand is an update that waits for its cache lines.
type otherStrand struct {
	node [nCount - strandOrder]uint32
	base [nCount - strandOrder]uint8
}

type model struct {
	mix     mixer
	matches [nMatch]match
	hist    history

	trust uint32 // first of the weight sets of the base's quality; 0 where there is none

	h, r uint64         // the last bases, newest lowest; and their reverse complement, newest highest
	wait [4]otherStrand // of the last bases
}

// newModel returns a fresh model for about n bases.
func newModel(n int) *model {
	m := &model{hist: newHistory(n)}
	m.mix.reset()
	for i := range m.wait {
		m.wait[i].node = [nCount - strandOrder]uint32{nodesAll, nodesAll + 1}
	}
	m.matches = [nMatch]match{newMatch(12, 0, n), newMatch(16, 3, n)}
	return m
}

// clone returns a copy that goes its own way, for another n bases, which may have qualities: each class of these learns
// weights of its own from here on.
func (m *model) clone(n int) *model {
	c := *m
	c.mix.nodes = append([]node(nil), m.mix.nodes...)
	c.mix.weights = nil
	for range trusts {
		c.mix.weights = append(c.mix.weights, m.mix.weights...)
	}
	c.hist = m.hist.clone(n)
	for i := range c.matches {
		c.matches[i].widen(&m.hist, m.hist.n+n)
	}
	return &c
}

// look finds the contexts of the next base and predicts it.
func (m *model) look() {
	var p [nMatch]uint32
	both, set := uint32(0), uint32(0)
	for i := range m.matches {
		a := &m.matches[i]
		both *= predictions
		set *= classes
		if a.at >= 0 {
			s, b := a.state(), m.hist.at(a.at)
			if a.step < 0 {
				b = 3 - b
			}
			p[i] = uint32(s.node)<<2 + 4 + b
			class := uint32(s.class)
			both += class<<2 - 3 + b
			set += class
		}
	}
	m.mix.set = m.trust + set
	m.mix.predict(uint32(m.h), p[0], p[1], both)
}

// enter moves the model past base b, whose decisions were predicted as in m.mix.p, on both strands.
func (m *model) enter(b uint32) {
	// An update of the other strand whose lines have had time to arrive goes with the base's own.
	q := &m.wait[m.hist.n&3]
	m.mix.learn(b, q)
	old := m.h
	m.h = old<<2 | uint64(b)
	m.r = m.r>>2 | uint64(3-b)<<(2*(longest-1))
	m.hist.add(b)
	// On the other strand, the complements of the newest bases, newest first, are followed
	// by the complement of the base before them.
	for i := range q.node {
		k := countOrders[strandOrder+i]
		q.node[i], q.base[i] = nodeStart[strandOrder+i]+uint32(m.r>>(2*(longest-k))), uint8(3-old>>(2*k-2)&3)
	}
	n := m.mix.nodes
	s0, w0 := m.matches[0].enter(&m.hist, b, m.h, m.r)
	s1, w1 := m.matches[1].enter(&m.hist, b, m.h, m.r)
	prefetch(&n[q.node[nCount-1-strandOrder]], &n[nodes8+m.h<<2&(1<<16-1)], &n[nodes10+m.h<<2&(1<<20-1)], s0, s1, w0, w1)
}

// weightSets is how many classes of two matches there are.
const weightSets = classes * classes

// trusts is how many classes of qualities there are: a base read with doubt follows no context.
const trusts = 8

// trustOf returns the first of the weight sets of a quality.
func trustOf(q byte) uint32 { return uint32(min(max(int(q)-33, 0)/6, trusts-1)) * weightSets }

// history is all bases entered, 32 a word, oldest lowest.
type history struct {
	words []uint64
	n     int
}

func newHistory(n int) history { return history{words: make([]uint64, 0, n/32+2)} }

func (h *history) clone(n int) history {
	c := history{make([]uint64, len(h.words), (h.n+n)/32+2), h.n}
	copy(c.words, h.words)
	return c
}

func (h *history) add(b uint32) {
	if h.n&31 == 0 {
		h.words = append(h.words, 0)
	}
	h.words[h.n>>5] |= uint64(b) << (2 * (h.n & 31))
	h.n++
}

func (h *history) at(i int) uint32 { return uint32(h.words[i>>5]>>(2*(i&31))) & 3 }

// from returns the 32 bases from i on, which exist.
func (h *history) from(i int) uint64 {
	w, s := h.words[i>>5:], uint(2*(i&31))
	v := w[0] >> s
	if s != 0 {
		v |= w[1] << (64 - s)
	}
	return v
}
