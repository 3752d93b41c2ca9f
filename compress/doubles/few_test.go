package doubles

import (
	"bytes"
	"math"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bins/parse"
)

// classLists are classes as blocks leave them, and others.
func classLists() map[string][]byte {
	r := rand.New(rand.NewSource(11))
	list := func(n int, f func(i int) byte) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = f(i)
		}
		return b
	}
	return map[string][]byte{
		"one": {64}, "last": {0, maxClass}, "constant": list(5000, func(int) byte { return 0 }),
		"all":    list(9000, func(int) byte { return byte(r.Intn(maxClass + 1)) }),
		"normal": list(9000, func(int) byte { return byte(min(max(30+4*r.NormFloat64(), 0), 64)) }),
		"rows":   list(9000, func(i int) byte { return byte(i % 20 * 3) }),
		"runs":   list(9000, func(i int) byte { return byte(i / 500) }),
	}
}

// TestClasses: classes come back, and take at most half more than what their order-0 entropy says. Code that is cut or longer is an error.
func TestClasses(t *testing.T) {
	w := &workspace{}
	for name, classes := range classLists() {
		r := &parse.Cursor{Rest: w.encodeClasses(nil, classes)}
		size, table, code := len(r.Rest), r.Block(), r.Block()
		got := make([]byte, len(classes))
		half := len(got) / 2
		if err := w.decodeClasses([][]byte{got[:half], got[half:]}, table, code); err != nil || !bytes.Equal(got, classes) {
			t.Errorf("%s: differs, %v", name, err)
		}
		var counts [256]float64
		for _, c := range classes {
			counts[c]++
		}
		entropy := 0.0
		for _, c := range counts {
			if c > 0 {
				entropy += c * math.Log2(float64(len(classes))/c) / 8
			}
		}
		t.Logf("%s: %d bytes, entropy %.0f", name, size, entropy)
		if float64(size) > 1.5*entropy+100 {
			t.Errorf("%s: %d bytes, but the entropy is %.0f", name, size, entropy)
		}
		if err := w.decodeClasses([][]byte{got}, table, code[:len(code)-1]); err == nil {
			t.Errorf("%s: no error after the code was cut", name)
		}
		if err := w.decodeClasses([][]byte{got}, table, append(slices.Clip(code), 0, 0)); err == nil {
			t.Errorf("%s: no error though there is more code", name)
		}
	}
}

// TestForgedClasses: tables of classes that no encoder writes are refused, or decode to other classes, and end.
func TestForgedClasses(t *testing.T) {
	r := rand.New(rand.NewSource(12))
	w, got := &workspace{}, make([]byte, 500)
	for range 2000 {
		table, code := make([]byte, 1+r.Intn(40)), make([]byte, 8+r.Intn(200))
		r.Read(table)
		r.Read(code)
		_ = w.decodeClasses([][]byte{got}, table, code)
	}
}

// TestFrequentLags: the length of rows is found where rows are the same, or differ by a constant or a factor, and have noise.
func TestFrequentLags(t *testing.T) {
	r := rand.New(rand.NewSource(14))
	row := generate(77, func(int) float64 { return math.Exp(r.NormFloat64()) })
	for name, f := range map[string]func(row int, x float64) float64{
		"same": func(_ int, x float64) float64 { return x }, "constant": func(row int, x float64) float64 { return x + 0.01*float64(row) },
		"factor": func(row int, x float64) float64 { return x * (1 + float64(row)/7) },
	} {
		for _, width := range []int{4, 8} {
			data := raw(generate(3000, func(i int) float64 { return f(i/77, row[i%77]) * (1 + 1e-4*r.Float64()) }), width)
			w := &workspace{}
			v := loaded(w, data, numbering{width: width})
			if lags := w.frequentLags(v); !slices.ContainsFunc(lags, func(l int) bool { return l%77 == 0 }) {
				t.Errorf("%s, %d bytes: lags %d", name, width, lags)
			}
		}
	}
}

// TestFewSizes: arrays of few values take no more than they did.
func TestFewSizes(t *testing.T) {
	field := raw(waves(160, 150), 8)
	for _, c := range []struct{ values, most int }{{500, 1790}, {2000, 8860}, {8000, 41293}} {
		got := len(Encode(field[:8*c.values], Layout{Width: 8, Columns: 160}))
		t.Logf("%d values: %d bytes", c.values, got)
		if got > c.most {
			t.Errorf("%d values: %d bytes, at most %d expected", c.values, got, c.most)
		}
	}
	if got := len(Encode(make([]byte, 32768), Layout{Width: 8})); got > 45 {
		t.Errorf("zeros: %d bytes", got)
	}
}
