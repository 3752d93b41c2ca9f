package basemodel

import "orcomgo/compress/rangecoder"

// An encoder knows the bases that follow. It first finds the contexts of many bases (prepare), each step for blockBases of them before the
// next step, so that cache lines can be fetched long before they are needed. Then the mixer predicts, learns and codes these (encode).
const (
	blockBases = 128
	basesAhead = 4 // how many bases ahead of its use a node is fetched
)

// prepared is what the mixer needs of bases.
type prepared struct {
	bases    []byte   // basesAhead bytes follow
	contexts []uint32 // by base: see match.context
	h, r     uint64   // of Model, before the first base
}

// block is what the steps of prepare find out about the bases of a block: after each base the last bases, as in Model, and the k-mer that
// they end with. Before the first base there are the k-mers of the last few bases before the block.
type block struct {
	h, r      [blockBases]uint64
	candidate [tryLag + blockBases]candidate
}

// Encode encodes bases, which Decode decodes with the same qualities.
func (m *Model) Encode(e *rangecoder.Encoder, bases, quals []byte) {
	p := &m.prepared
	p.bases = append(p.bases[:0], bases...)
	m.prepare(p, quals)
	m.mix.encode(e, p)
}

// prepare finds the contexts of p.bases and moves the model past them; the mixer does not learn them.
func (m *Model) prepare(p *prepared, quals []byte) {
	if m.block == nil {
		m.block = new(block)
	}
	n := len(p.bases)
	p.bases = append(p.bases, make([]byte, basesAhead)...)[:n]
	p.h, p.r, p.contexts = m.h, m.r, p.contexts[:0]
	for bases := p.bases; len(bases) > 0; {
		n := min(len(bases), blockBases)
		m.findKmers(bases[:n])
		m.readSlots(n)
		p.contexts = m.followMatch(p.contexts, bases[:n], quals)
		if quals != nil {
			quals = quals[n:]
		}
		bases = bases[n:]
	}
}

// findKmers finds the k-mers of all bases, and fetches what will be read of them.
func (m *Model) findKmers(bases []byte) {
	x := m.block
	for i := range x.candidate[:tryLag] {
		x.candidate[i] = m.match.pending[(m.at+1+i)&3]
	}
	h, r := m.h, m.r
	var slots [blockBases]uint32
	for i, b := range bases {
		h, r = shiftIn(h, r, b)
		x.h[i], x.r[i] = h, r
		c := m.match.candidate(h, r)
		x.candidate[tryLag+i] = c
		slots[i] = c.slot
	}
	prefetchAll(m.match.slots, slots[:len(bases)])
}

// readSlots reads the slots of the k-mers, enters those of the block, and fetches what will be read of the history.
func (m *Model) readSlots(n int) {
	x := m.block
	var words [blockBases]uint32
	for i := range n {
		p := &x.candidate[tryLag+i-slotLag]
		m.match.look(m.at+1+i, p)
		words[i] = p.old >> 6
	}
	prefetchAll(m.hist.words, words[:n])
	m.slot, m.word = x.candidate[tryLag+n-1].slot, words[n-1]
}

// followMatch appends the contexts of all bases to contexts, and enters the bases in the history one by one: a match may be at a place to
// come, where it has to find nothing, as the decoder does.
func (m *Model) followMatch(contexts []uint32, bases, quals []byte) []uint32 {
	x, a := m.block, &m.match
	class := uint32(0)
	for i, b := range bases {
		if quals != nil {
			class = QualityClass(quals[i])
		}
		contexts = append(contexts, a.context(uint32(m.h), class))
		m.h, m.r = x.h[i], x.r[i]
		m.hist.set(m.at, uint32(b))
		m.at++
		a.follow(uint32(b))
		a.try(&m.hist, m.at, &x.candidate[i], m.h, m.r)
		a.setPredicted(&m.hist)
	}
	for i, c := range x.candidate[len(bases):][:tryLag] {
		a.pending[(m.at+1+i)&3] = c
	}
	return contexts
}

// encode encodes and learns bases that were prepared.
func (x *mixer) encode(e *rangecoder.Encoder, p *prepared) {
	var decisions [2 * blockBases]rangecoder.Decision
	h, r := p.h, p.r
	for at := 0; at < len(p.bases); at += blockBases {
		bases := p.bases[at:min(at+blockBases, len(p.bases))]
		x.encodeSome(h, r, bases, p.contexts[at:], decisions[:])
		e.EncodeAll(decisions[:2*len(bases)])
		for _, b := range bases {
			h, r = shiftIn(h, r, b)
		}
	}
}
