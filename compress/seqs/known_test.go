package seqs

import (
	"math"
	"math/rand"
	"testing"
)

// TestKnownValuesCostTheirFrequency: values that come back cost about what their frequencies say, also if there are more of them than 16
// bits can tell apart.
func TestKnownValuesCostTheirFrequency(t *testing.T) {
	r := rand.New(rand.NewSource(160))
	for _, c := range []struct {
		name   string
		values int
		draw   func() int
	}{
		{"one", 20_000, func() int { return 7 }},
		{"one of many and others", 50_000, func() int { return max(0, r.Intn(3000)-2900) }},
		{"as often", 40_000, func() int { return r.Intn(100) }},
		{"ever fewer", 40_000, func() int { return int(r.ExpFloat64() * 20) }},
		{"many", 300_000, func() int { return r.Intn(100_000) }},
	} {
		var all []uint64
		times := make(map[uint64]int)
		for range c.values {
			v := uint64(c.draw())
			all = append(all, v)
			times[v]++
		}
		e, k := encodeTo(nil), newKnownValues()
		for _, v := range all {
			if _, known := k.code(e, 3, v); !known {
				k.add(e, 3, v)
			}
		}
		data := e.Enc.Finish()
		d, k := decodeFrom(data), newKnownValues()
		fresh := make(map[uint64]bool)
		for i, want := range all {
			v, known := k.code(d, 3, 0)
			if !known {
				v = want
				fresh[v] = true
				k.add(d, 3, v)
			}
			if v != want {
				t.Fatalf("%s: value %d is %d, want %d", c.name, i, v, want)
			}
		}
		bits := 0.0
		for _, n := range times {
			bits -= float64(n) * math.Log2(float64(n)/float64(c.values))
		}
		if got := 8 * float64(len(data)); len(fresh) != len(times) || got > bits*1.05+float64(40*len(times))+400 {
			t.Errorf("%s: %.0f bits, the frequencies say %.0f; %d of %d values were new", c.name, got, bits, len(fresh), len(times))
		}
	}
}
