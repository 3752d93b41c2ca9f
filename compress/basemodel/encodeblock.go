package basemodel

import "orcomgo/compress/rangecoder"

// blockBases is how many bases are encoded at once, each step of the model for all of them before the next step. An encoder knows the
// bases that follow, so cache lines can be fetched long before they are needed, and the loops are short.
const blockBases = 128

// blockAhead is how many steps ahead of its use a node is fetched.
const blockAhead = 4

// blockStep is what the mixer needs of a base.
type blockStep struct {
	h, match, joint, set uint32 // as for mixer.predict and mixer.set
	strand               strandUpdate
	last                 uint32 // the base before it
}

// block holds the bases of a block and what the steps of the model find out about them.
type block struct {
	steps [blockBases + blockAhead]blockStep
	p     [blockBases][4]uint32 // the probabilities of the decisions, as in prediction

	// After each base: the last bases, as in Model, and the k-mer that they end with. Before the first base there are the k-mers of the
	// last few bases before the block.
	h, r      [blockBases]uint64
	before    uint64 // h before the first base
	candidate [tryLag + blockBases]candidate
	strand    [strandLag + blockBases]strandUpdate // likewise
}

// Encode encodes bases, as Code does one after another. quals are their qualities, each as for SetQuality; nil leaves those as they are.
func (m *Model) Encode(e *rangecoder.Encoder, bases, quals []byte) {
	if !m.pending && len(bases) > 0 {
		if quals != nil {
			m.SetQuality(quals[0])
			quals = quals[1:]
		}
		m.encode(e, bases[0])
		bases = bases[1:]
	}
	for len(bases) > 0 {
		n := min(len(bases), blockBases)
		if quals == nil {
			m.encodeBlock(e, bases[:n], nil)
		} else {
			m.encodeBlock(e, bases[:n], quals[:n])
			quals = quals[n:]
		}
		bases = bases[n:]
	}
}

// encodeBlock is Encode for 1 to blockBases bases. The mixer must have predicted a base before.
func (m *Model) encodeBlock(e *rangecoder.Encoder, bases, quals []byte) {
	if m.block == nil {
		m.block = new(block)
	}
	x := m.block
	m.prepare(bases, quals, x)
	m.findStrands(len(bases), x)
	m.at += len(bases)
	m.mix.advanceAll(x.steps[:], len(bases), x.p[:])
	encodeBases(e, bases, x.p[:])
}

// encodeBases writes at most blockBases bases, given the probabilities of their decisions.
func encodeBases(e *rangecoder.Encoder, bases []byte, p [][4]uint32) {
	var all [2 * blockBases]rangecoder.Decision
	for i, b := range bases {
		hi, q := uint32(b>>1&1), &p[i]
		all[2*i&(2*blockBases-1)] = rangecoder.Decision(q[0]<<1 | hi)
		all[(2*i+1)&(2*blockBases-1)] = rangecoder.Decision(q[1+hi]<<1 | uint32(b&1))
	}
	e.EncodeAll(all[:2*len(bases)])
}

// prepare finds the contexts of a block: x.steps, but for the updates by the other strand.
func (m *Model) prepare(bases, quals []byte, x *block) {
	x.before = m.h
	m.findKmers(bases, x)
	m.readSlots(len(bases), x)
	m.followMatch(bases, quals, x)
}

// findKmers finds the k-mers of all bases, and fetches what will be read of them.
func (m *Model) findKmers(bases []byte, x *block) {
	for i := range x.candidate[:tryLag] {
		x.candidate[i] = m.match.pending[(m.at+1+i)&3]
	}
	h, r := m.h, m.r
	var slots [blockBases]uint32
	for i, v := range bases {
		b := uint64(v)
		h = h<<2 | b
		r = r>>2 | (3-b)<<(2*(registerBases-1))
		x.h[i], x.r[i] = h, r
		c := m.match.candidate(h, r)
		x.candidate[tryLag+i] = c
		slots[i] = c.slot
	}
	prefetchAll(m.match.slots, slots[:len(bases)])
}

// findStrands finds the updates by the other strand for a block of n bases, once its k-mers are known.
func (m *Model) findStrands(n int, x *block) {
	for i := range x.strand[:strandLag] {
		x.strand[i] = m.delayed[(m.at+i)&3]
	}
	old := x.before
	for i := range n {
		x.strand[strandLag+i].find(old, x.r[i])
		x.steps[i].strand = x.strand[i]
		old = x.h[i]
	}
	for i, q := range x.strand[n : n+strandLag] {
		m.delayed[(m.at+n+i)&3] = q
	}
}

// readSlots reads the slots of the k-mers, enters those of the block, and fetches what will be read of the history.
func (m *Model) readSlots(n int, x *block) {
	var words [blockBases]uint32
	for i := range n {
		p := &x.candidate[tryLag+i-slotLag]
		if m.match.changed == nil {
			m.match.look(m.at+1+i, p)
		} else {
			m.match.lookChanged(m.at+1+i, p)
		}
		words[i] = p.old >> 6
	}
	prefetchWords(m.hist.words, words[:n])
	m.slot, m.word = x.candidate[tryLag+n-1].slot, words[n-1]
}

// followMatch finds the contexts of all bases, and enters these in the history one by one: a match may be at a place to come, where it has
// to find nothing, as the decoder does.
func (m *Model) followMatch(bases, quals []byte, x *block) {
	a, last := &m.match, m.last
	h := m.h
	for i, v := range bases {
		if quals != nil {
			m.SetQuality(quals[i])
		}
		s := &x.steps[i]
		s.h, s.last = uint32(h), last
		s.match, s.joint, s.set = m.matchContext(uint32(h))
		b := uint32(v)
		t := m.at + 1 + i
		h = x.h[i]
		m.hist.set(t-1, b)
		a.follow(b)
		a.try(&m.hist, t, &x.candidate[i], h, x.r[i])
		a.setPredicted(&m.hist)
		last = b
	}
	n := len(bases)
	m.h, m.r, m.last = x.h[n-1], x.r[n-1], last
	for i, c := range x.candidate[n : n+tryLag] {
		a.pending[(m.at+n+1+i)&3] = c
	}
}
