package names

import rc "orcomgo/compress/rangecoder"

// matcher keeps all values of a number, to predict the next one where the column
// repeats itself: files that were sampled from several runs with one seed, or lanes listed twice, have
// long sequences of the same numbers with a few replaced.
type matcher struct {
	vals []uint32
	link []int32 // for each value, the index of the value that was its forecast, or -1
	head []int32 // by hash of a value, 1 + the index of its last occurrence
	ptr  int32   // forecast: vals[ptr]; or -1
	miss uint32  // wrong forecasts, newest in the lowest bit
}

const (
	matchHashBits = 17
	maxForecasts  = 3
)

func newMatcher() *matcher {
	return &matcher{head: make([]int32, 1<<matchHashBits), ptr: -1}
}

// last returns 1 + the index of the last occurrence of a value with the hash of v, or 0.
func (m *matcher) last(v uint32) *int32 { return &m.head[v*0x9E3779B1>>(32-matchHashBits)] }

// forecasts returns up to maxForecasts different values that may come next, best first.
func (m *matcher) forecasts() (v [maxForecasts]uint32, n int) {
	p := m.ptr
	for range 8 {
		if p < 0 {
			break
		}
		w := m.vals[p]
		p = m.link[p]
		if n > 0 && w == v[n-1] || n > 1 && w == v[0] {
			continue
		}
		v[n] = w
		n++
		if n == maxForecasts {
			break
		}
	}
	return v, n
}

// add appends the value v and determines the next forecast.
func (m *matcher) add(v uint32) {
	k := int32(len(m.vals))
	h := m.last(v)
	m.vals = append(m.vals, v)
	m.link = append(m.link, m.ptr)
	hit := false
	if m.ptr >= 0 {
		hit = m.vals[m.ptr] == v
		m.ptr++
		m.miss = m.miss<<1 | uint32(rc.BitOf(!hit))
		if m.miss&0xffff == 0xffff {
			m.ptr = -1
		}
	}
	if !hit && *h > 0 && m.vals[*h-1] == v && (m.ptr < 0 || m.miss&3 == 3) {
		m.ptr, m.miss = *h, 0 // the value occurred elsewhere: continue from there
	}
	*h = k + 1
}

// forecast codes whether a forecast is right, and which, and returns that one. tried is how many forecasts there were.
func (c *codec) forecast(f *fieldState, v uint32) (value uint32, hit bool, tried int) {
	m := f.match
	guess, n := m.forecasts()
	shift := max(f.plan.width-8, 0)
	for i, g := range guess[:n] {
		if c.direct(rc.BitOf(v == g), hash(hMatch, f.id, g>>shift<<2|uint32(i)), 250) == 1 {
			return g, true, n
		}
	}
	return 0, false, n
}
