package basemodel

import "orcomgo/compress/rangecoder"

// Slices with literals wait for the model of the first segment. So where there are threads for it, each coder of a long segment has two:
// what a match predicts follows from the bases alone, which an encoder knows; the other thread mixes, learns and codes. What goes from one
// to the other has five bytes a base: it moves from one core's cache to another's.

// Goroutines returns how many goroutines Encode has with so many threads, at most: one for each coder, or two if there are so many threads
// and each segment has two coders. A sequence may be longer than twoCoders and have segments that are shorter.
func Goroutines(n, twoCoders, threads int) int {
	count := Coders(n, twoCoders)
	if count == coders*len(segmentEnds(n)) && 2*count <= threads {
		return 2 * count
	}
	return min(count, threads)
}

// preparedChunks is how many chunks are prepared before they are coded, at most.
const preparedChunks = 4

// preparedChunk is what the mixer needs of the bases of a chunk, the first of which follows none.
type preparedChunk struct {
	bases    []byte
	contexts []uint32 // by base: those of the match, see packContext
	h, r     uint64   // of Model, before the first base
}

// packContext returns what blockStep has of the match as a number.
func packContext(match, joint, set uint32) uint32 { return match<<16 | joint<<4 | set }

// unpackContext is the inverse of packContext.
func (s *blockStep) unpackContext(v uint32) { s.match, s.joint, s.set = v>>16, v>>4&(1<<12-1), v&15 }

// encodeAhead codes the bases of one of two coders while another goroutine prepares them. It calls coded after each chunk.
func (t *coderTask) encodeAhead(enc *rangecoder.Encoder, m *Model, src Source, coded func(n int)) {
	free, ready := make(chan *preparedChunk, preparedChunks), make(chan *preparedChunk, preparedChunks)
	for range preparedChunks {
		free <- new(preparedChunk)
	}
	go func() {
		defer close(ready)
		var buf []byte
		bases := t.bases(src, &buf)
		for r := range t.rounds {
			c := <-free
			at := t.rounds[r][t.coder]
			c.bases = src(c.bases[:0], t.from+at.from, at.to-at.from)
			m.prepareChunk(c)
			t.endRound(m, t.coder, r, bases)
			ready <- c
		}
	}()
	x := new(block)
	for c := range ready {
		m.mix.encodeChunk(enc, c, x)
		coded(len(c.bases))
		free <- c
	}
}

// prepareChunk finds the contexts of a chunk, and moves the model past it.
func (m *Model) prepareChunk(c *preparedChunk) {
	if m.block == nil {
		m.block = new(block)
	}
	c.h, c.r, c.contexts = m.h, m.r, c.contexts[:0]
	bases := c.bases
	if len(bases) > 0 {
		c.contexts = append(c.contexts, packContext(m.matchContext(uint32(m.h))))
		m.pending = true
		m.update(uint32(bases[0]))
		bases = bases[1:]
	}
	for len(bases) > 0 {
		n := min(len(bases), blockBases)
		m.prepare(bases[:n], nil, m.block)
		m.at += n
		for i := range m.block.steps[:n] {
			s := &m.block.steps[i]
			c.contexts = append(c.contexts, packContext(s.match, s.joint, s.set))
		}
		bases = bases[n:]
	}
}

// encodeChunk encodes the bases of a chunk that was prepared. x is memory.
func (x *mixer) encodeChunk(e *rangecoder.Encoder, c *preparedChunk, b *block) {
	h, r := c.h, c.r
	delayed := [strandLag]strandUpdate{noUpdate, noUpdate, noUpdate, noUpdate} // of the last bases, the oldest first
	for at := 0; at < len(c.bases); {
		n := 1
		if at > 0 {
			n = min(len(c.bases)-at, blockBases)
		}
		copy(b.strand[:], delayed[:])
		for i, v := range c.bases[at : at+n] {
			s := &b.steps[i]
			s.unpackContext(c.contexts[at+i])
			s.h, s.last, s.strand = uint32(h), uint32(h&3), b.strand[i]
			old := h
			h = h<<2 | uint64(v)
			r = r>>2 | uint64(3-v)<<(2*(registerBases-1))
			b.strand[strandLag+i].find(old, r)
		}
		copy(delayed[:], b.strand[n:])
		if at == 0 {
			s := &b.steps[0]
			x.set = s.set
			x.predict(s.h, s.match, s.joint)
			encodeBases(e, c.bases[:1], [][4]uint32{x.p})
		} else {
			x.advanceAll(b.steps[:], n, b.p[:])
			encodeBases(e, c.bases[at:at+n], b.p[:])
		}
		at += n
	}
}
