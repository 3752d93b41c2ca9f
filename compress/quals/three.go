package quals

import (
	"slices"
	"sync"
)

// weightsOf3 are the mixing weights at one node of one tree; 65536 is 1. The fourth is padding, so that none crosses a cache line.
type weightsOf3 [4]int32

// three mixes three context models, the weights chosen by the previous symbol and the
// node: the engine of Default.
type three struct {
	t       *trees
	stepped bool
	slots   []state
	weights []weightsOf3 // at last symbol << nodeBits | node
	gain    int64        // how much faster than usual weights learn
	history history
}

// unused are models that are not used again. A model takes some MB, and there are many: slices, and samples of a batch, may be small.
var unused sync.Pool

// unusedThree returns a model of which nothing is set, with the memory of an older one if there is one.
func unusedThree() *three {
	if m, ok := unused.Get().(*three); ok {
		return m
	}
	return new(three)
}

// release gives the memory of an engine to later ones. It must not be used again.
func release(e engine) {
	if m, ok := e.(*three); ok {
		unused.Put(m)
	}
}

func newThree(t *trees, total int, stepped bool) *three {
	node := t.nodeBits()
	ctx := contextsFor(total, node)
	m := unusedThree()
	*m = three{t: t, stepped: stepped, slots: m.slots, weights: m.weights, gain: 1}
	m.history = history{shift: uint8(64 - ctx), node: uint8(node), top: uint32(len(t.values) - 1)}
	m.history.size = 1 << (ctx + node)
	m.slots = freshSlots(m.slots, 3<<(ctx+node))
	m.weights = slices.Grow(m.weights[:0], len(t.values)<<node+256)[:len(t.values)<<node+256]
	for i := range m.weights {
		m.weights[i] = weightsOf3{22000, 22000, 22000}
	}
	return m
}

// place is where the slots and weights of the decisions of one symbol are.
type place struct {
	at      [3]uint32
	weights uint32
}

// batch holds the decisions of some symbols for the encoder's three
// loops: contexts, mixing, coding. None has branches that depend on the data.
type batch struct {
	places    [1024]place
	steps     [4096 + 512]uint16 // node<<2 | bit<<1 | 1 at the last decision of a symbol
	decisions [4096 + 512]decision
}

func (m *three) encode(out []byte, in *Input) []byte {
	e := newEncoder(out)
	b := new(batch)
	h := &m.history
	src := in.Quals
	symbols, steps := 0, 0
	nodeBits := m.history.node & 31
	for r := 0; r < in.Records; r++ {
		if r == in.mark && r > 0 {
			m.mix(b, steps)
			e.encode(b.decisions[:steps])
			symbols, steps = 0, 0
			in.marked = len(e.out) - len(out)
		}
		n := in.Lengths.Of(r)
		in.tick(n)
		h.reset()
		h.contexts(m.stepped)
		for _, q := range src[:n] {
			s := uint32(m.t.rank[q])
			path := &m.t.paths[int(h.last)*len(m.t.values)+int(s)]
			// Field by field: one wide load would stall on the narrow stores before it.
			pl := &b.places[symbols&1023]
			pl.at[0], pl.at[1], pl.at[2], pl.weights = h.at[0], h.at[1], h.at[2], h.last<<nodeBits
			k := steps
			*(*[4]uint16)(b.steps[k:]) = path.first
			steps += int(path.length)
			if path.length > 4 {
				for i := uint8(4); i < path.length; i++ {
					b.steps[k+int(i)] = m.t.step(path, i)
				}
			}
			if path.length > 0 {
				symbols++
			}
			if symbols == len(b.places) || steps >= 4096 {
				m.mix(b, steps)
				e.encode(b.decisions[:steps])
				symbols, steps = 0, 0
			}
			if m.stepped {
				h.stepped(s)
			} else {
				h.smooth(s)
			}
		}
		src = src[n:]
	}
	m.mix(b, steps)
	e.encode(b.decisions[:steps])
	return e.finish()
}

// mix computes the probabilities of n decisions and updates the models.
func (m *three) mix(b *batch, n int) {
	slots := m.slots
	weights := m.weights
	symbol := 0
	moves := newMoves()
	decisions := b.decisions[:n]
	gain := m.gain
	for i, d := range b.steps[:n] {
		pl := &b.places[symbol&1023]
		symbol += int(d & 1)
		node, bit := uint32(d>>2), uint32(d>>1&1)
		v0, v1, v2 := &slots[pl.at[0]+node], &slots[pl.at[1]+node], &slots[pl.at[2]+node]
		w := &weights[pl.weights+node]
		x0, x1, x2 := int64(*v0&4095)-2048, int64(*v1&4095)-2048, int64(*v2&4095)-2048
		dot := (x0*int64(w[0]) + x1*int64(w[1]) + x2*int64(w[2])) >> 16
		p := uint32(squashOf[(min(max(dot, -2047), 2047)+2048)&4095])
		decisions[i] = decision(p<<1 | bit)
		move := &moves[bit&1]
		*v0, *v1, *v2 = move[*v0], move[*v1], move[*v2]
		err := (int64(bit<<16) - int64(p)) * gain
		w[0] += int32(x0 * err >> 18)
		w[1] += int32(x1 * err >> 18)
		w[2] += int32(x2 * err >> 18)
	}
}

// decode appends the values that encode coded to dst, which has total bytes in the end.
func (m *three) decode(data []byte, in *Input, total int, dst []byte) ([]byte, error) {
	d := &decoder{src: data}
	code := d.word()<<32 | d.word()
	size := ^uint64(0)
	slots := m.slots
	gain, one := m.gain, m.gain<<16
	h := &m.history
	moves := newMoves()
	nodeBits := h.node & 31
	for r := 0; r < in.decoded(); r++ {
		n := in.Lengths.Of(r)
		in.tick(n)
		h.reset()
		h.contexts(m.stepped)
		for n > 0 {
			// Part by part, so that a damaged stream is soon noticed.
			part := min(n, 1<<16)
			n -= part
			if d.overrun() {
				return nil, ErrCorrupt
			}
			dst = grow(dst, part, total)
			room := dst[len(dst) : len(dst)+part]
			dst = dst[:len(dst)+part]
			at0, at1, at2, last := h.at[0], h.at[1], h.at[2], h.last
			for i := range room {
				ws := (*[256]weightsOf3)(m.weights[last<<nodeBits:])
				tree := (*[256][2]int16)(m.t.child[last<<nodeBits:])
				c := m.t.root[last]
				for c >= 0 {
					node := uint8(c)
					w := &ws[node]
					v0, v1, v2 := &slots[at0+uint32(node)], &slots[at1+uint32(node)], &slots[at2+uint32(node)]
					x0, x1, x2 := int64(*v0&4095)-2048, int64(*v1&4095)-2048, int64(*v2&4095)-2048
					dot := (x0*int64(w[0]) + x1*int64(w[1]) + x2*int64(w[2])) >> 16
					p := uint64(squashOf[(min(max(dot, -2047), 2047)+2048)&4095])
					split := size >> 16 * p
					step := int64(p) * gain
					// A branch is faster than arithmetic here: the processor predicts it and continues
					// in the tree before the mixing, a long dependency chain, has ended.
					err, bit := -step, uint32(0)
					if code < split {
						size = split
						err, bit = one-step, 1
						c = tree[node][1]
					} else {
						code -= split
						size -= split
						c = tree[node][0]
					}
					if size>>32 == 0 {
						size <<= 32
						code = code<<32 | d.word()
					}
					w[0] += int32(x0 * err >> 18)
					w[1] += int32(x1 * err >> 18)
					w[2] += int32(x2 * err >> 18)
					move := &moves[bit&1]
					*v0, *v1, *v2 = move[*v0], move[*v1], move[*v2]
				}
				s := uint32(^c) & 255
				room[i] = m.t.values[s]
				if m.stepped {
					h.stepped(s)
					at0, at1, at2, last = h.at[0], h.at[1], h.at[2], s
					continue
				}
				// This is history.smooth, inlined by hand: a call would spill the registers.
				before, run := uint64(last)<<16|octave(h.run)<<32, uint32(0)
				if s == last {
					before, run = h.before, h.run+1
				}
				h.before, h.run, last = before, run, s
				if s == h.top {
					h.tops++
				}
				mean := uint32(int32(h.mean) + (int32(s<<8)-int32(h.mean))>>4)
				pos := h.pos + 1
				h.mean, h.pos = mean, pos
				if pos&7 == 0 {
					h.mark()
				}
				q, shift := uint64(s), h.shift&63
				at0 = uint32((q|uint64(mean>>10)<<8|uint64(min(pos, 511))<<32)*hashFactor>>shift) << nodeBits
				at1 = uint32((q|octave(run)<<8|before)*hashFactor>>shift)<<nodeBits + h.size
				at2 = uint32((q|h.stage)*hashFactor>>shift)<<nodeBits + 2*h.size
			}
			h.at, h.last = [3]uint32{at0, at1, at2}, last
		}
	}
	if !d.done() && in.decoded() == in.Records || d.overrun() {
		return nil, ErrCorrupt
	}
	return dst, nil
}
