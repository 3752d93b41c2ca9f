package quals

import (
	"slices"
	"sync"

	"orcomgo/compress/mixing"
)

// weightsOf3 are the mixing weights at one node of one tree. The fourth is padding, so that none crosses a cache line.
type weightsOf3 [4]int32

// three mixes three context models, the weights chosen by the previous symbol and the node: the engine of Default, and of Fast for
// qualities that are given the bases.
type three struct {
	t       *trees
	kind    kind
	slots   []state
	weights []weightsOf3 // at last symbol << nodeBits | node
	rate    int64        // of the weights
	history history
	runs    []uint16 // classes of the bases of a read that are left, if given
	memory  []uint16 // of runs
}

// Rates of the weights: see mixing.Step.
const (
	threeRate = 4
	// primerRate is that of primers. Weights are good sooner with it, so slices are smaller.
	primerRate = 4 * threeRate
)

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

func newThree(t *trees, total int, k kind) *three {
	m := unusedThree()
	*m = three{t: t, kind: k, slots: m.slots, weights: m.weights, rate: threeRate, history: newHistory(t, total), memory: m.memory}
	m.slots = freshSlots(m.slots, 3*int(m.history.size))
	n := len(t.values)<<m.history.node + 256
	m.weights = slices.Grow(m.weights[:0], n)[:n]
	for i := range m.weights {
		m.weights[i] = weightsOf3{mixing.One / 3, mixing.One / 3, mixing.One / 3}
	}
	return m
}

func (m *three) start(bases []byte) {
	m.history.reset()
	if m.kind == given {
		m.memory = runsOf(m.memory, bases)
		m.runs = m.memory
		m.history.givenContexts(uint32(m.runs[0]))
		return
	}
	m.history.contexts(m.kind)
}

func (m *three) code(s *stream, part []byte) {
	t, h, slots, moves := m.t, &m.history, m.slots, newMoves()
	encoding := s.enc != nil
	code, size := s.state()
	rate := m.rate
	nodeBits := h.node & 31
	last, at0, at1, at2 := h.last, h.at[0], h.at[1], h.at[2]
	for i, q := range part {
		ws := (*[256]weightsOf3)(m.weights[last<<nodeBits:])
		tree := (*[256][2]int16)(t.child[last<<nodeBits:])
		var path uint64
		if encoding {
			path = t.path(last, q)
		}
		c := t.root[last]
		for c >= 0 {
			node := uint8(c)
			w := &ws[node]
			v0, v1, v2 := &slots[at0+uint32(node)], &slots[at1+uint32(node)], &slots[at2+uint32(node)]
			x0, x1, x2 := int64(*v0&4095)-2048, int64(*v1&4095)-2048, int64(*v2&4095)-2048
			p := mixing.Predict(x0*int64(w[0]) + x1*int64(w[1]) + x2*int64(w[2]))
			x0, x1, x2 = x0*rate, x1*rate, x2*rate // while p is computed
			// A branch is faster than arithmetic here: the processor predicts it and continues
			// in the tree before the mixing, a long dependency chain, has ended.
			bit := 0
			if encoding {
				bit = int(path & 1)
				path >>= 1
				s.add(p, uint64(bit))
				c = tree[node][bit&1]
			} else {
				if split := size >> 16 * uint64(p); code < split {
					size = split
					bit = 1
					c = tree[node][1]
				} else {
					code -= split
					size -= split
					c = tree[node][0]
				}
				if size>>32 == 0 {
					size <<= 32
					code = code<<32 | s.dec.Next()
				}
			}
			step := mixing.Step(bit, p, 1)
			mixing.Move(&w[0], x0, step)
			mixing.Move(&w[1], x1, step)
			mixing.Move(&w[2], x2, step)
			move := &moves[bit&1]
			*v0, *v1, *v2 = move[*v0], move[*v1], move[*v2]
		}
		symbol := uint32(^c) & 255
		if encoding {
			s.full()
		} else {
			part[i] = t.values[symbol]
		}
		if m.kind != smooth {
			if m.kind == stepped {
				h.stepped(symbol)
			} else {
				m.runs = m.runs[1:]
				h.given(symbol, uint32(m.runs[0]))
			}
			at0, at1, at2, last = h.at[0], h.at[1], h.at[2], symbol
			continue
		}
		// Smooth contexts are computed here, as by history.smoothContexts: a call would spill the registers.
		before, run := uint64(last)<<16|octave(h.run)<<32, uint32(0)
		if symbol == last {
			before, run = h.before, h.run+1
		}
		h.before, h.run, last = before, run, symbol
		if symbol == h.top {
			h.tops++
		}
		mean := uint32(int32(h.mean) + (int32(symbol<<8)-int32(h.mean))>>4)
		pos := h.pos + 1
		h.mean, h.pos = mean, pos
		if pos&7 == 0 {
			h.mark()
		}
		w, shift := uint64(symbol), h.shift&63
		at0 = uint32((w|uint64(mean>>10)<<8|uint64(min(pos, 511))<<32)*hashFactor>>shift) << nodeBits
		at1 = uint32((w|octave(run)<<8|before)*hashFactor>>shift)<<nodeBits + h.size
		at2 = uint32((w|h.stage)*hashFactor>>shift)<<nodeBits + 2*h.size
	}
	h.at, h.last = [3]uint32{at0, at1, at2}, last
	s.setState(code, size)
}

// clone returns a copy that learns by itself.
func (m *three) clone() *three {
	c := unusedThree()
	slots, weights, memory := append(c.slots[:0], m.slots...), append(c.weights[:0], m.weights...), c.memory
	*c = *m
	c.slots, c.weights, c.memory = slots, weights, memory
	return c
}
