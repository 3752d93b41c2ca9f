package quals

import "orcomgo/compress/mixing"

// single is the engine of Fast: one context model, without mixing.
type single struct {
	t       *trees
	kind    kind
	slots   []state
	history history
}

func newSingle(t *trees, total int, k kind) *single {
	h := newHistory(t, total)
	return &single{t: t, kind: k, slots: newSlots(int(h.size)), history: h}
}

func (m *single) start([]byte) { m.history.reset() }

func (m *single) code(s *stream, part []byte) {
	t, h, slots, moves := m.t, &m.history, m.slots, newMoves()
	encoding := s.enc != nil
	code, size := s.state()
	nodeBits := h.node & 31
	at := h.single(m.kind)
	for i, q := range part {
		last := h.last
		tree := (*[256][2]int16)(t.child[last<<nodeBits:])
		var path uint64
		if encoding {
			path = t.path(last, q)
		}
		c := t.root[last]
		for c >= 0 {
			node := uint8(c)
			v := &slots[at+uint32(node)]
			p := mixing.Squash(int32(*v&4095) - 2048)
			if encoding {
				bit := path & 1
				path >>= 1
				s.add(p, bit)
				*v = moves[bit][*v]
				c = tree[node][bit]
				continue
			}
			if split := size >> 16 * uint64(p); code < split {
				size = split
				*v = moves[1][*v]
				c = tree[node][1]
			} else {
				code -= split
				size -= split
				*v = moves[0][*v]
				c = tree[node][0]
			}
			if size>>32 == 0 {
				size <<= 32
				code = code<<32 | s.dec.Next()
			}
		}
		symbol := uint32(^c) & 255
		if encoding {
			s.full()
		} else {
			part[i] = t.values[symbol]
		}
		at = h.nextSingle(symbol, m.kind)
	}
	s.setState(code, size)
}

// nextSingle appends symbol s and returns where the context of the next one starts.
func (h *history) nextSingle(s uint32, k kind) uint32 {
	if s == h.last {
		h.run++
	} else {
		d := int32(s) - int32(h.last)
		if h.pos > 0 {
			h.delta += uint32(max(d, -d))
		}
		h.before, h.run = uint64(h.last)<<16, 0
	}
	h.last = s
	h.mean = uint32(int32(h.mean) + (int32(s<<8)-int32(h.mean))>>4)
	h.pos++
	return h.single(k)
}

// single returns where the only context starts: the running mean and the place, or for
// stepped alphabets the run, the value before it and the differences so far.
func (h *history) single(k kind) uint32 {
	c := uint64(h.last)
	if k == stepped {
		c |= octave(h.run)<<8 | h.before | uint64(rootOf[min(h.delta, uint32(len(rootOf)-1))])<<32
	} else {
		c |= uint64(h.mean>>8)<<8 | uint64(min(h.pos>>2, 127))<<32
	}
	return uint32(c*hashFactor>>(h.shift&63)) << (h.node & 31)
}
