package seqs

// The base model predicts one base (0..3) as two binary decisions, mixing in the logistic domain what
// eight contexts say: the last 1, 2, 3, 4, 6 and 9 bases, what a match with earlier bases predicts (match.go), and
// that with the last two bases. The contexts that see few bases are taught the other strand too, so that
// inverted repeats are known (as in GeCo; Pratas, Pinho, Ferreira, DCC 2016).
//
// A context is a node of three counters. All nodes are in one table and all eight of a base are mixed and
// taught at once, by vector instructions where the processor has them (mix.go). Cache lines are fetched before
// they are needed: contexts that differ in their last base alone share a line, and updates of the other strand wait.

const (
	nCount = 6 // contexts of the last bases
	lanes  = nCount + 2
	// strandOrder is the index of the lowest order that is taught the other strand: those below see enough of one.
	strandOrder = 4
	longest     = 32 // bases that the history words hold
)

// countOrders are the orders of the contexts of the last bases.
var countOrders = [nCount]uint{1, 2, 3, 4, 6, 9}

// Where the contexts' nodes begin in the table.
const (
	nodes1     = 0
	nodes2     = nodes1 + 1<<2
	nodes3     = nodes2 + 1<<4
	nodes4     = nodes3 + 1<<6
	nodes6     = nodes4 + 1<<8
	nodes9     = nodes6 + 1<<12
	nodesMatch = nodes9 + 1<<18
	nodesBoth  = nodesMatch + matchNodes
	nodesAll   = nodesBoth + bothNodes
)

// bothNodes is what a match predicts, by its class and the last two bases.
const (
	predictions = 1 + 4*(classes-1)
	bothNodes   = predictions * 16
)

// nodeStart and nodeMask give the contexts of the last bases; the rest is set for each base.
var (
	nodeStart = [lanes]uint32{nodes1, nodes2, nodes3, nodes4, nodes6, nodes9, nodesMatch, nodesBoth}
	nodeMask  = [lanes]uint32{1<<2 - 1, 1<<4 - 1, 1<<6 - 1, 1<<8 - 1, 1<<12 - 1, 1<<18 - 1}
)

// otherStrand is an update that waits for its cache lines.
type otherStrand struct {
	node [nCount - strandOrder]uint32
	base [nCount - strandOrder]uint8
}

type model struct {
	// Models are used side by side. What a processor fetches ahead, up to the end of a page, must not be another's. With
	// the eight bytes that the allocator puts before, the vectors of mix are aligned.
	_     [120]byte
	mix   mixer
	match match
	hist  history
	at    int // place of the next base in the history

	trust uint32 // first of the weight sets of the base's quality; 0 where there is none

	h, r  uint64         // the last bases, newest lowest; and their reverse complement, newest highest
	wait  [4]otherStrand // of the last bases
	begun bool           // there is a last base to be learnt, when the next is looked for
	last  uint32

	slot, word uint32 // of the match's table and the history: fetched ahead of their use
	_          [4096]byte
}

// newModel returns a fresh model for n bases.
func newModel(n int) *model {
	m := &model{hist: newHistory(n), match: newMatch(n)}
	m.mix.reset()
	m.begin(0, false)
	return m
}

// begin moves the model to a place in the history. The bases before it are known, or none are.
func (m *model) begin(at int, known bool) {
	m.at, m.h, m.r, m.begun = at, 0, 0, false
	from := at
	if known {
		from = max(at-longest, 0)
	}
	for i := from; i < at; i++ {
		m.push(m.hist.at(i))
	}
	for i := range m.wait {
		m.wait[i].node = [nCount - strandOrder]uint32{nodesAll, nodesAll + 1}
	}
	m.match.begin(at, from)
	m.slot, m.word = 0, 0
}

// push enters b in the last bases.
func (m *model) push(b uint32) {
	m.h = m.h<<2 | uint64(b)
	m.r = m.r>>2 | uint64(3-b)<<(2*(longest-1))
}

// hear enters in the history bases that another model coded, the first at place `from`. They can be matched; the contexts
// are not taught.
func (m *model) hear(from int, bases []byte) {
	m.begin(from, true)
	h, r := m.h, m.r
	for i, v := range bases {
		b := uint64(v)
		m.hist.set(from+i, uint32(b))
		h = h<<2 | b
		r = r>>2 | (3-b)<<(2*(longest-1))
		if noted(from+i) && from+i >= matchLen-1 {
			m.match.note(from+i, h, r)
		}
	}
	m.at = from + len(bases)
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
	c.hist = m.hist.clone(m.at + n)
	c.match.widen(&m.hist, m.at, n)
	c.slot, c.word = 0, 0 // of the old table
	return &c
}

// look learns the base before, finds the contexts of the next and predicts it.
func (m *model) look() {
	a := &m.match
	p, both, set := uint32(0), uint32(0), m.trust
	if a.at >= 0 {
		s := a.state()
		p = uint32(s.node)<<2 + 4 + a.want
		c := uint32(s.class)
		set += c
		both = c<<2 - 3 + a.want
	}
	both = both<<4 | uint32(m.h)&15
	if !m.begun {
		m.begun = true
		m.mix.set = set
		m.mix.predict(uint32(m.h), p, both)
		return
	}
	// An update of the other strand whose lines have had time to arrive goes with the base's own.
	n := m.mix.nodes
	m.mix.advance(m.last, &m.wait[m.at&3], set, uint32(m.h), p, both,
		&n[m.wait[(m.at-1)&3].node[nCount-1-strandOrder]], &n[nodes9+m.h<<2&(1<<18-1)], &m.match.slots[m.slot], &m.hist.words[m.word])
}

// enter moves the model past base b, whose decisions were predicted as in m.mix.p.
func (m *model) enter(b uint32) {
	q := &m.wait[m.at&3]
	old := m.h
	m.push(b)
	m.hist.set(m.at, b)
	m.at++
	m.last = b
	// On the other strand, the complements of the newest bases, newest first, are followed
	// by the complement of the base before them.
	for i := range q.node {
		k := countOrders[strandOrder+i]
		q.node[i], q.base[i] = nodeStart[strandOrder+i]+uint32(m.r>>(2*(longest-k))), uint8(3-old>>(2*k-2)&3)
	}
	m.slot, m.word = m.match.enter(&m.hist, m.at, b, m.h, m.r)
}

// weightSets is how many classes of matches there are.
const weightSets = classes

// trusts is how many classes of qualities there are: a base read with doubt follows no context.
const trusts = 8

// trustOf returns the first of the weight sets of a quality.
func trustOf(q byte) uint32 { return uint32(min(max(int(q)-33, 0)/6, trusts-1)) * weightSets }

// history is bases by place, 32 a word, oldest lowest; 0 where none was entered yet.
type history struct {
	words []uint64
}

func newHistory(n int) history { return history{make([]uint64, n/32+3)} }

// clone returns a copy with room for n bases in all.
func (h *history) clone(n int) history {
	c := newHistory(n)
	copy(c.words, h.words)
	return c
}

// set enters base b at place i, where none was.
func (h *history) set(i int, b uint32) { h.words[i>>5] |= uint64(b) << (2 * (i & 31)) }

func (h *history) at(i int) uint32 { return uint32(h.words[i>>5]>>(2*(i&31))) & 3 }

// from returns the 32 bases from i on.
func (h *history) from(i int) uint64 {
	w, s := h.words[i>>5:], uint(2*(i&31))
	v := w[0] >> s
	if s != 0 {
		v |= w[1] << (64 - s)
	}
	return v
}
