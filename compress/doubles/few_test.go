package doubles

import (
	"math"
	"math/rand"
	"slices"
	"testing"
)

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
			v := loaded(data, numbering{width: width})
			if lags := v.frequentLags(); !slices.ContainsFunc(lags, func(l int) bool { return l%77 == 0 }) {
				t.Errorf("%s, %d bytes: lags %d", name, width, lags)
			}
		}
	}
}

// TestFewSizes: arrays of few values take no more than they did.
func TestFewSizes(t *testing.T) {
	field := raw(waves(160, 150), 8)
	for _, c := range []struct{ values, most int }{{500, 1790}, {2000, 8860}, {8000, 41293}} {
		got := len(Encode(field[:8*c.values], Layout{Width: 8, Floats: true}))
		t.Logf("%d values: %d bytes", c.values, got)
		if got > c.most {
			t.Errorf("%d values: %d bytes, at most %d expected", c.values, got, c.most)
		}
	}
	if got := len(Encode(make([]byte, 32768), Layout{Width: 8, Floats: true})); got > 45 {
		t.Errorf("zeros: %d bytes", got)
	}
}
