package quals

// single is the engine of Fast: one context model, without mixing.
type single struct {
	t       *trees
	stepped bool
	slots   []state
	history history
}

func newSingle(t *trees, total int, stepped bool) *single {
	node := t.nodeBits()
	ctx := contextsFor(total, node)
	return &single{t: t, stepped: stepped, slots: newSlots(1 << (ctx + node)),
		history: history{shift: uint8(64 - ctx), node: uint8(node), top: uint32(len(t.values) - 1)}}
}

func (m *single) encode(out []byte, in *Input) []byte {
	e := newEncoder(out)
	var batch [4096 + 256]decision
	k := 0
	h, slots, moves := &m.history, m.slots, newMoves()
	src := in.Quals
	for r := 0; r < in.Records; r++ {
		n := in.Lengths.Of(r)
		in.tick(n)
		h.reset()
		at := h.single(m.stepped)
		for _, q := range src[:n] {
			s := uint32(m.t.rank[q])
			path := &m.t.paths[int(h.last)*len(m.t.values)+int(s)]
			for i := range path.length {
				d := m.t.step(path, i)
				v := &slots[at+uint32(d>>2)]
				bit := int(d >> 1 & 1)
				batch[k] = decision(uint32(squashOf[*v&4095])<<1 | uint32(bit))
				k++
				*v = moves[bit][*v]
			}
			if k >= 4096 {
				e.encode(batch[:k])
				k = 0
			}
			at = h.nextSingle(s, m.stepped)
		}
		src = src[n:]
	}
	e.encode(batch[:k])
	return e.finish()
}

func (m *single) decode(data []byte, in *Input, total int, dst []byte) ([]byte, error) {
	d := &decoder{src: data}
	code := d.word()<<32 | d.word()
	size := ^uint64(0)
	h, slots, moves := &m.history, m.slots, newMoves()
	nodeBits := h.node & 31
	for r := 0; r < in.decoded(); r++ {
		n := in.Lengths.Of(r)
		in.tick(n)
		h.reset()
		at := h.single(m.stepped)
		for n > 0 {
			part := min(n, 1<<16)
			n -= part
			if d.overrun() {
				return nil, ErrCorrupt
			}
			dst = grow(dst, part, total)
			room := dst[len(dst) : len(dst)+part]
			dst = dst[:len(dst)+part]
			for i := range room {
				tree := (*[256][2]int16)(m.t.child[h.last<<nodeBits:])
				c := m.t.root[h.last]
				for c >= 0 {
					node := uint8(c)
					v := &slots[at+uint32(node)]
					split := size >> 16 * uint64(squashOf[*v&4095])
					if code < split {
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
						code = code<<32 | d.word()
					}
				}
				s := uint32(^c) & 255
				room[i] = m.t.values[s]
				at = h.nextSingle(s, m.stepped)
			}
		}
	}
	if !d.done() && in.decoded() == in.Records || d.overrun() {
		return nil, ErrCorrupt
	}
	return dst, nil
}

// nextSingle appends symbol s and returns where the context of the next one starts.
func (h *history) nextSingle(s uint32, stepped bool) uint32 {
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
	return h.single(stepped)
}

// single returns where the only context starts: the running mean and the place, or for
// stepped alphabets the run, the value before it and the differences so far.
func (h *history) single(stepped bool) uint32 {
	c := uint64(h.last)
	if stepped {
		c |= octave(h.run)<<8 | h.before | uint64(rootOf[min(h.delta, uint32(len(rootOf)-1))])<<32
	} else {
		c |= uint64(h.mean>>8)<<8 | uint64(min(h.pos>>2, 127))<<32
	}
	return uint32(c*hashFactor>>(h.shift&63)) << (h.node & 31)
}
