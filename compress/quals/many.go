package quals

import "orcomgo/compress/rangecoder"

// manyModels is how many models Max mixes.
const manyModels = 8

// many mixes eight context models with two sets of weights, one chosen by the previous
// symbol and one by the place in the read, and takes the mean of both in the stretched
// domain: the engine of Max.
type many struct {
	t        *trees
	stepped  bool
	slots    []slot
	bySymbol []weightsOf8 // at last symbol << node bits | node
	byPlace  []weightsOf8 // at place in the read << node bits | node
	limit    slot         // of the uses that slots count
	rate     uint8        // weights move by 2^-rate of input times error
	history  longHistory

	x      [manyModels]int64 // stretched predictions at the node
	v      [manyModels]*slot
	w1, w2 *weightsOf8
	p1, p2 int64
}

// A slot is a probability with a memory of its own: that a decision is 1 in the upper 22
// bits, and how often it was used in the lower 10. It moves by 1/(uses+2) of the distance,
// finer than a state can.
type slot uint32

const slotStart = 1 << 31

// pace is 2^16/(uses+2).
var pace = func() (t [1024]int64) {
	for i := range t {
		t[i] = int64(1 << 16 / (i + 2))
	}
	return t
}()

// update moves the slot; uses are counted up to limit.
func (v *slot) update(bit int, limit slot) {
	p, uses := int64(*v>>10), *v&1023
	goal := int64(0)
	if bit != 0 {
		goal = 1<<22 - 1
	}
	p += (goal - p) * pace[uses] >> 16
	*v = slot(p)<<10 | min(uses+1, limit)
}

type weightsOf8 [manyModels]int32

const manyPlaces = 64

func newMany(t *trees, total int, stepped bool) *many {
	node := t.nodeBits()
	ctx := min(contextsFor(total, node)+3, 16)
	m := &many{t: t, stepped: stepped, limit: 255, rate: 18}
	if stepped {
		m.limit, m.rate = 1023, 19 // binned qualities hold still
	}
	m.history = longHistory{shift: uint8(64 - ctx), node: uint8(node), top: uint32(len(t.values) - 1)}
	m.slots = make([]slot, manyModels<<(ctx+node)+256)
	for i := range m.slots {
		m.slots[i] = slotStart
	}
	m.bySymbol = make([]weightsOf8, len(t.values)<<node)
	m.byPlace = make([]weightsOf8, manyPlaces<<node)
	for _, w := range [][]weightsOf8{m.bySymbol, m.byPlace} {
		for i := range w {
			for j := range w[i] {
				w[i][j] = 65536 * 6 / 5 / manyModels
			}
		}
	}
	return m
}

// predict returns the probability that the decision at node is 1.
func (m *many) predict(node uint32) uint32 {
	h := &m.history
	m.w1 = &m.bySymbol[h.q[0]<<h.node|node]
	m.w2 = &m.byPlace[min(h.pos, manyPlaces-1)<<h.node|node]
	var dot1, dot2 int64
	for i := range m.x {
		v := &m.slots[h.at[i]+node]
		x := int64(rangecoder.Stretch(uint32(*v >> 16)))
		m.v[i], m.x[i] = v, x
		dot1 += x * int64(m.w1[i])
		dot2 += x * int64(m.w2[i])
	}
	dot1 = min(max(dot1>>16, -2047), 2047)
	dot2 = min(max(dot2>>16, -2047), 2047)
	m.p1, m.p2 = int64(squashOf[dot1+2048]), int64(squashOf[dot2+2048])
	return uint32(squashOf[(dot1+dot2)>>1+2048])
}

// update tells the models the decision that was predicted last.
func (m *many) update(bit int) {
	err1, err2 := int64(bit<<16)-m.p1, int64(bit<<16)-m.p2
	half := int64(1) << m.rate >> 1
	for i, x := range m.x {
		m.w1[i] += int32((x*err1 + half) >> m.rate)
		m.w2[i] += int32((x*err2 + half) >> m.rate)
		m.v[i].update(bit, m.limit)
	}
}

func (m *many) encode(out []byte, in *Input) []byte {
	e := newEncoder(out)
	var batch [4096 + 256]decision
	k := 0
	h := &m.history
	src := in.Quals
	for r := 0; r < in.Records; r++ {
		n := in.Lengths.Of(r)
		h.reset(m.stepped)
		for _, q := range src[:n] {
			s := uint32(m.t.rank[q])
			path := &m.t.paths[int(h.q[0])*len(m.t.values)+int(s)]
			for i := range path.length {
				d := m.t.step(path, i)
				bit := int(d >> 1 & 1)
				batch[k] = decision(m.predict(uint32(d>>2))<<1 | uint32(bit))
				k++
				m.update(bit)
			}
			if k >= 4096 {
				e.encode(batch[:k])
				k = 0
			}
			h.next(s, m.stepped)
		}
		src = src[n:]
	}
	e.encode(batch[:k])
	return e.finish()
}

func (m *many) decode(data []byte, in *Input, total int, dst []byte) ([]byte, error) {
	d := &decoder{src: data}
	code := d.word()<<32 | d.word()
	size := ^uint64(0)
	h := &m.history
	for r := 0; r < in.Records; r++ {
		n := in.Lengths.Of(r)
		h.reset(m.stepped)
		for pos := range n {
			if pos&0xffff == 0 {
				if d.overrun() {
					return nil, ErrCorrupt
				}
				dst = grow(dst, min(n-pos, 1<<16), total)
			}
			c := m.t.root[h.q[0]]
			for c >= 0 {
				split := size >> 16 * uint64(m.predict(uint32(c)))
				bit := 0
				if code < split {
					bit, size = 1, split
				} else {
					code, size = code-split, size-split
				}
				if size>>32 == 0 {
					size <<= 32
					code = code<<32 | d.word()
				}
				m.update(bit)
				c = m.t.child[h.q[0]<<h.node|uint32(c)][bit]
			}
			dst = append(dst, m.t.values[^c])
			h.next(uint32(^c), m.stepped)
		}
	}
	if !d.done() {
		return nil, ErrCorrupt
	}
	return dst, nil
}
