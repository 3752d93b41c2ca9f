package quals

import (
	"math/bits"

	"orcomgo/compress/rangecoder"
)

// models is how many context models are mixed.
const models = 4

// A slot holds the probability that a decision is 1 in its upper 22 bits and how often it was
// used in the lower 10: the rate of adaptation is about 1/(uses+1.5), down to 1/limit.
const (
	slotStart = 1<<31 | 0
	slotLimit = 255
)

var reciprocal = func() (t [1024]uint32) {
	for i := range t {
		t[i] = uint32(65536 * 2 / (2*i + 3))
	}
	return t
}()

// mixer holds the models of one column and the state of their contexts.
type mixer struct {
	a      *alphabet
	stride uint // log2 of the slots kept for a context
	slots  [models][]uint32
	bits   [models]uint // log2 of the contexts of each model
	base   [models]uint32
	weight [][models]int32 // of each node

	q1, q2, q3 uint32 // previous three symbols
	delta      uint32 // sum of the differences so far in the read
}

func newMixer(a *alphabet, total int) *mixer {
	m := &mixer{a: a}
	n := len(a.values)
	m.stride = uint(bits.Len(uint(n - 2)))
	qb := uint(bits.Len(uint(n - 1)))
	for i, b := range [models]uint{2 * qb, qb + 7, 2*qb + 4, min(3*qb, 16)} {
		// A short column can't fill many contexts: hash them down to what it can.
		m.bits[i] = min(b, 16, uint(bits.Len(uint(total)))+2)
		m.slots[i] = make([]uint32, 1<<(m.bits[i]+m.stride))
		for j := range m.slots[i] {
			m.slots[i][j] = slotStart
		}
	}
	m.weight = make([][models]int32, n-1)
	for i := range m.weight {
		for j := range m.weight[i] {
			m.weight[i][j] = 1 << 16 * 3 / 10
		}
	}
	return m
}

func (m *mixer) start() { m.q1, m.q2, m.q3, m.delta = 0, 0, 0, 0 }

// context sets where the models look for the next symbol, at place pos of its read.
func (m *mixer) context(pos int) {
	n := uint32(len(m.a.values))
	q1, q2, q3 := m.q1, m.q2, m.q3
	eq := uint32(0)
	if q2 == q3 {
		eq = 1
	}
	h := [models]uint32{
		q1*n + q2,
		q1<<7 | uint32(min(pos, 127)),
		((q1*n+max(q2, q3))<<1|eq)<<3 | min(m.delta>>3, 7),
		(q1*n+q2)*n + q3,
	}
	for i := range h {
		m.base[i] = h[i] * 0x9E3779B1 >> (32 - m.bits[i]) << m.stride
	}
}

func (m *mixer) next(s uint32) {
	if s > m.q1 {
		m.delta += s - m.q1
	} else {
		m.delta += m.q1 - s
	}
	m.q3, m.q2, m.q1 = m.q2, m.q1, s
}

// predict returns the mixed probability at a node, and what update needs.
func (m *mixer) predict(node uint32, st *[models]int32) uint32 {
	w := &m.weight[node]
	var dot int64
	for i := range st {
		st[i] = rangecoder.Stretch(m.slots[i][m.base[i]+node] >> 16)
		dot += int64(st[i]) * int64(w[i])
	}
	return min(max(rangecoder.Squash(int32(dot>>16)), 32), 65536-32)
}

func (m *mixer) update(node uint32, st *[models]int32, p uint32, bit int) {
	w := &m.weight[node]
	err := int32(bit<<16) - int32(p)
	for i := range st {
		w[i] += (st[i]*(err>>2) + 1<<13) >> 14
		s := &m.slots[i][m.base[i]+node]
		c := *s & 1023
		q := *s >> 10
		if bit != 0 {
			q += uint32(uint64(1<<22-1-q) * uint64(reciprocal[c]) >> 16)
		} else {
			q -= uint32(uint64(q) * uint64(reciprocal[c]) >> 16)
		}
		if c < slotLimit {
			c++
		}
		*s = q<<10 | c
	}
}

func encodeMixed(out []byte, in *Input, a *alphabet, level Level) []byte {
	m := newMixer(a, len(in.Quals))
	e := rangecoder.NewEncoder(out)
	var st [models]int32
	src := in.Quals
	for r := 0; r < in.Records; r++ {
		n := in.length(r)
		m.start()
		for pos, q := range src[:n] {
			s := a.rank[q]
			m.context(pos)
			for _, d := range a.path[s] {
				node, bit := uint32(d>>1), int(d&1)
				p := m.predict(node, &st)
				e.Encode(bit, p)
				m.update(node, &st, p, bit)
			}
			m.next(uint32(s))
		}
		src = src[n:]
	}
	return e.Finish()
}

func decodeMixed(data []byte, in *Input, total int, a *alphabet, level Level, dst []byte) ([]byte, error) {
	m := newMixer(a, total)
	d := rangecoder.NewDecoder(data)
	var st [models]int32
	for r := 0; r < in.Records; r++ {
		n := in.length(r)
		m.start()
		for pos := 0; pos < n; pos++ {
			if len(dst) == cap(dst) {
				if len(dst)>>17 > len(data)+16 {
					return nil, ErrCorrupt // more than any stream of this size holds
				}
				grown := make([]byte, len(dst), min(total, max(1<<20, 2*len(dst))))
				copy(grown, dst)
				dst = grown
			}
			m.context(pos)
			node := uint32(0)
			for {
				p := m.predict(node, &st)
				bit := d.Decode(p)
				m.update(node, &st, p, bit)
				c := a.child[node][bit]
				if c < 0 {
					node = uint32(^c)
					break
				}
				node = uint32(c)
			}
			dst = append(dst, a.values[node])
			m.next(node)
		}
	}
	if d.Err() != nil {
		return nil, ErrCorrupt
	}
	return dst, nil
}
