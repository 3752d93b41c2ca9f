package quals

// given is three with the contexts of history.based: the engine of Default, and of Fast, for qualities that are given the bases. It has
// loops of its own, so that those of three keep their variables in registers.
type given struct {
	three
	runs []uint16 // of a read
}

func newGiven(t *trees, total int) *given { return &given{three: *newThree(t, total, false)} }

func (m *given) encode(out []byte, in *Input) []byte {
	e := newEncoder(out)
	b := new(batch)
	h := &m.history
	src, bases := in.Quals, in.Bases
	symbols, steps := 0, 0
	for r := 0; r < in.Records; r++ {
		n := in.Lengths.Of(r)
		in.tick(n)
		m.runs, bases = runsOf(m.runs, bases[:n]), bases[n:]
		h.reset()
		h.basedContexts(uint32(m.runs[0]))
		for i, q := range src[:n] {
			s := uint32(m.t.rank[q])
			path := &m.t.paths[int(h.last)*len(m.t.values)+int(s)]
			pl := &b.places[symbols&1023]
			pl.at[0], pl.at[1], pl.at[2], pl.weights = h.at[0], h.at[1], h.at[2], h.last<<(h.node&31)
			for j := range path.length {
				b.steps[steps] = m.t.step(path, j)
				steps++
			}
			if path.length > 0 {
				symbols++
			}
			if symbols == len(b.places) || steps >= 4096 {
				m.mix(b, steps)
				e.encode(b.decisions[:steps])
				symbols, steps = 0, 0
			}
			h.based(s, uint32(m.runs[i+1]))
		}
		src = src[n:]
	}
	m.mix(b, steps)
	e.encode(b.decisions[:steps])
	return e.finish()
}

// decode is three.decode with other contexts.
func (m *given) decode(data []byte, in *Input, total int, dst []byte) ([]byte, error) {
	d := &decoder{src: data}
	code := d.word()<<32 | d.word()
	size := ^uint64(0)
	h, slots, moves := &m.history, m.slots, newMoves()
	nodeBits := h.node & 31
	bases := in.Bases
	for r := 0; r < in.decoded(); r++ {
		n := in.Lengths.Of(r)
		in.tick(n)
		m.runs, bases = runsOf(m.runs, bases[:n]), bases[n:]
		h.reset()
		h.basedContexts(uint32(m.runs[0]))
		runs := m.runs[1:]
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
			for i, run := range runs[:part] {
				last, at0, at1, at2 := h.last, h.at[0], h.at[1], h.at[2]
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
					err, bit := -int64(p), uint32(0)
					if code < split {
						size = split
						err, bit = 65536-int64(p), 1
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
				h.based(s, uint32(run))
			}
			runs = runs[part:]
		}
	}
	if !d.done() && in.decoded() == in.Records || d.overrun() {
		return nil, ErrCorrupt
	}
	return dst, nil
}
