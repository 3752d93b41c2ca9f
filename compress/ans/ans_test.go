package ans

import (
	"math"
	"math/rand"
	"slices"
	"testing"
)

// TestLogistic: the function rises, is near the true one, and is that of the opposite logit for the opposite decision. No value is 0.
func TestLogistic(t *testing.T) {
	last := uint16(0)
	for x := -32768; x <= 32767; x++ {
		p := Logistic(int16(x))
		if p < last || p == 0 {
			t.Fatalf("Logistic(%d) is %d, that before it %d", x, p, last)
		}
		last = p
		if x > -32768 {
			if opposite := -Logistic(int16(-x)); x != 0 && p != opposite {
				t.Fatalf("Logistic(%d) is %d, by Logistic(%d) it is %d", x, p, -x, opposite)
			}
		}
		want := 65536 / (1 + math.Exp2(-float64(x)/2048))
		// Linear parts between octaves are above the function by at most so much of the smaller probability, and all is rounded down.
		if d := math.Abs(float64(p) - want); d > 3+0.062*min(want, 65536-want) {
			t.Fatalf("Logistic(%d) is %d, want %.1f", x, p, want)
		}
	}
	if Logistic(0) != 1<<15 || Logistic(-32768) != Logistic(-32767) {
		t.Errorf("Logistic is %d at 0, %d at -32768 and %d after that", Logistic(0), Logistic(-32768), Logistic(-32767))
	}
}

// TestSaturate: numbers that 16 bits do not hold become the next ones that they do.
func TestSaturate(t *testing.T) {
	for _, c := range []struct {
		x    int32
		want int16
	}{{0, 0}, {32767, 32767}, {32768, 32767}, {-32768, -32768}, {-32769, -32768}, {math.MaxInt32, 32767}, {math.MinInt32, -32768}} {
		if got := Saturate(c.x); got != c.want {
			t.Errorf("Saturate(%d) is %d, want %d", c.x, got, c.want)
		}
	}
}

// TestMulHigh: products are rounded down.
func TestMulHigh(t *testing.T) {
	for _, c := range []struct{ a, b, want uint16 }{
		{65535, 65535, 65534}, {1, 65535, 0}, {32768, 32768, 16384}, {2, 32768, 1},
	} {
		if got := MulHigh(c.a, c.b); got != c.want {
			t.Errorf("MulHigh(%d, %d) is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// randomDecisions returns decisions of intervals of all sizes, from 1 to 2^bits.
func randomDecisions(r *rand.Rand, rounds int, bits uint) []uint16 {
	all := make([]uint16, rounds*RoundValues)
	for i := range all {
		if i/Lanes%2 > 0 {
			continue
		}
		less := r.Intn(1<<bits) >> r.Intn(17) // the size less 1
		if r.Intn(10) == 0 {
			less = 1<<bits - 1
		}
		all[i], all[i+Lanes] = uint16(r.Intn(1<<bits-less)), uint16(less)
	}
	return all
}

// decode decodes words, as models do, whose decisions are known. It fails if a state is not in the interval of its decision.
func decode(t *testing.T, words []uint16, states *[Lanes]uint32, decisions []uint16, bits uint) {
	t.Helper()
	for ; len(decisions) > 0; decisions = decisions[RoundValues:] {
		for l := range Lanes {
			start, size := uint32(decisions[l]), uint32(decisions[Lanes+l])+1
			x := states[l]
			place := x & (1<<bits - 1)
			if x < Start || place-start >= size {
				t.Fatalf("%d values before the end: lane %d has state %#x, want it from %#x on, %#x wide", len(decisions), l, x, start, size)
			}
			if x = x>>bits*size + place - start; x < Start {
				if len(words) == 0 {
					t.Fatalf("%d values before the end, there are too few words", len(decisions))
				}
				x, words = x<<16|uint32(words[0]), words[1:]
			}
			states[l] = x
		}
	}
	if len(words) > 0 {
		t.Fatalf("%d words are left", len(words))
	}
}

// TestRoundTrip: decoding finds the decisions, and leaves the states that encoding began with, and no words, for both of Encode and
// encodePlain.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(15))
	for name, encode := range map[string]func([]uint16, *[Lanes]uint32, uint) int{"Encode": Encode, "encodePlain": encodePlain} {
		for i := range 400 {
			bits := uint(16 - i%4)
			decisions := randomDecisions(r, r.Intn(100), bits)
			var first, states [Lanes]uint32
			for l := range first {
				first[l] = Start
				if r.Intn(2) > 0 {
					first[l] += uint32(r.Int63n(1<<32-Start)) >> r.Intn(32)
				}
			}
			states = first
			coded := slices.Clone(decisions)
			words := coded[encode(coded, &states, bits):]
			if decode(t, words, &states, decisions, bits); states != first {
				t.Fatalf("%s, %d bits: states %x are left, want %x", name, bits, states, first)
			}
		}
	}
}

// TestCodeLength: decisions take about as many bits as they hold.
func TestCodeLength(t *testing.T) {
	const bits = 14
	r := rand.New(rand.NewSource(16))
	var decisions []uint16
	held := 0.0
	for range 2000 {
		var starts, sizes [Lanes]uint16
		for l := range Lanes {
			starts[l], sizes[l] = 0, 1<<bits*3/4-1
			if r.Intn(4) == 0 {
				starts[l], sizes[l] = 1<<bits*3/4, 1<<bits/4-1
			}
			held += bits - math.Log2(float64(sizes[l])+1)
		}
		decisions = append(append(decisions, starts[:]...), sizes[:]...)
	}
	var states [Lanes]uint32
	for l := range states {
		states[l] = Start
	}
	words := len(decisions) - Encode(decisions, &states, bits)
	if got := 16*float64(words) + Lanes*16; got > held*1.001+Lanes*16 || got < held {
		t.Errorf("%.0f bits for %.1f bits", got, held)
	}
}

// TestEncodeNothing: nothing is encoded as nothing.
func TestEncodeNothing(t *testing.T) {
	states := [Lanes]uint32{Start, 5 * Start}
	want := states
	if got := Encode(nil, &states, 16); got != 0 || states != want {
		t.Errorf("%d words, states %x", got, states)
	}
}
