package names

import rc "orcomgo/compress/rangecoder"

// matcher keeps all values of a number, to predict the next one where the column
// repeats itself: files that were sampled from several runs with one seed, or lanes listed twice, have
// long sequences of the same numbers with a few replaced.
type matcher struct {
	past []pastValue
	head []int32 // by hash of a value, 1 + the index of its last occurrence
	ptr  int32   // forecast: past[ptr]; or -1
	miss uint32  // wrong forecasts, newest in the lowest bit
}

// pastValue is a value, and the index of the value that was its forecast, or -1.
type pastValue struct {
	val  uint32
	link int32
}

const (
	matchHashBits = 17
	maxForecasts  = 3
)

func newMatcher() *matcher { return &matcher{head: make([]int32, 1<<matchHashBits), ptr: -1} }

// forecasts returns up to maxForecasts different values that may come next, best first.
func (m *matcher) forecasts() (v [maxForecasts]uint32, n int) {
	p := m.ptr
	for left := 8; left > 0 && p >= 0 && n < maxForecasts; left-- {
		w := m.past[p].val
		if p = m.past[p].link; n > 0 && w == v[n-1] || n > 1 && w == v[0] {
			continue
		}
		v[n] = w
		n++
	}
	return v, n
}

// add appends the value v and determines the next forecast.
func (m *matcher) add(v uint32) {
	h := &m.head[v*0x9E3779B1>>(32-matchHashBits)]
	m.past = append(m.past, pastValue{v, m.ptr})
	hit := false
	if m.ptr >= 0 {
		hit = m.past[m.ptr].val == v
		m.ptr++
		m.miss = m.miss<<1 | uint32(rc.BitOf(!hit))
		if m.miss&0xffff == 0xffff {
			m.ptr = -1
		}
	}
	if !hit && (m.ptr < 0 || m.miss&3 == 3) && *h > 0 && m.past[*h-1].val == v {
		m.ptr, m.miss = *h, 0 // the value occurred elsewhere: continue from there
	}
	*h = int32(len(m.past))
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
