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
	slots    []rangecoder.Prob
	bySymbol []weightsOf8 // at last symbol << node bits | node
	byPlace  []weightsOf8 // at place in the read << node bits | node
	limit    uint32       // of the counts of slots
	rate     uint8        // weights move by 2^-rate of input times error
	history  longHistory
	runs     []uint16 // of a read, if history.based

	// Of the decision that was predicted last:
	x      [manyModels]int64 // stretched predictions
	v      [manyModels]*rangecoder.Prob
	w1, w2 *weightsOf8 // of bySymbol and byPlace
	p1, p2 int64       // predictions by w1 and w2
}

// adaptation is how the probabilities of Max learn. In this format they move by 1/(uses+2) of the distance.
var adaptation = rangecoder.NewAdaptation(20, 24)

// weightsOf8 are mixing weights of eight models; 65536 is 1.
type weightsOf8 [manyModels]int32

// manyPlaces is how many places in the read have weights of their own.
const manyPlaces = 64

// newMany returns the engine for a column of total symbols.
func newMany(t *trees, total int, stepped bool) *many {
	node := t.nodeBits()
	ctx := min(contextsFor(total, node)+3, 16)
	m := &many{t: t, stepped: stepped, limit: 255, rate: 18}
	if stepped {
		m.limit, m.rate = rangecoder.MaxCount, 19 // the statistics of binned qualities hardly change
	}
	m.history = longHistory{shift: uint8(64 - ctx), node: uint8(node), top: uint32(len(t.values) - 1)}
	m.slots = rangecoder.NewProbs(manyModels<<(ctx+node) + slotPad)
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

// classify sets the classes of a read of n bases, the first ones, and returns the others.
func (m *many) classify(bases []byte, n int) []byte {
	if !m.history.based {
		return nil
	}
	m.runs = runsOf(m.runs, bases[:n])
	return bases[n:]
}

// class returns the class of base i of the read.
func (m *many) class(i int) uint32 {
	if !m.history.based {
		return 0
	}
	return uint32(m.runs[i])
}

// predict returns the probability that the decision at node is 1.
func (m *many) predict(node uint32) uint32 {
	h := &m.history
	m.w1 = &m.bySymbol[h.q[0]<<h.node|node]
	m.w2 = &m.byPlace[min(h.pos, manyPlaces-1)<<h.node|node]
	var dot1, dot2 int64
	for i := range m.x {
		v := &m.slots[h.at[i]+node]
		x := int64(rangecoder.Stretch(v.P()))
		m.v[i], m.x[i] = v, x
		dot1 += x * int64(m.w1[i])
		dot2 += x * int64(m.w2[i])
	}
	dot1 = min(max(dot1>>16, -2047), 2047)
	dot2 = min(max(dot2>>16, -2047), 2047)
	m.p1, m.p2 = int64(squashOf[dot1+2048]), int64(squashOf[dot2+2048])
	return uint32(squashOf[(dot1+dot2)>>1+2048])
}

// update learns the decision that was predicted last.
func (m *many) update(bit int) {
	err1, err2 := int64(bit<<16)-m.p1, int64(bit<<16)-m.p2
	half, a := int64(1)<<m.rate>>1, adaptation
	for i, x := range m.x {
		m.w1[i] += int32((x*err1 + half) >> m.rate)
		m.w2[i] += int32((x*err2 + half) >> m.rate)
		m.v[i].Update(bit, m.limit, a)
	}
}

func (m *many) encode(out []byte, in *Input) []byte {
	e := newEncoder(out)
	var batch [4096 + 256]decision
	k := 0
	h := &m.history
	src := in.Quals
	bases := in.Bases
	for r := 0; r < in.Records; r++ {
		n := in.Lengths.Of(r)
		in.tick(n)
		bases = m.classify(bases, n)
		h.reset(m.stepped, m.class(0))
		for at, q := range src[:n] {
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
			h.next(s, m.stepped, m.class(at+1))
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
	bases := in.Bases
	for r := 0; r < in.decoded(); r++ {
		n := in.Lengths.Of(r)
		in.tick(n)
		bases = m.classify(bases, n)
		h.reset(m.stepped, m.class(0))
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
			h.next(uint32(^c), m.stepped, m.class(pos+1))
		}
	}
	if !d.done() && in.decoded() == in.Records || d.overrun() {
		return nil, ErrCorrupt
	}
	return dst, nil
}
