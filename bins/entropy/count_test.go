package entropy

import (
	"math/rand/v2"
	"testing"
)

// TestCountNear compares the counts of pairs of near symbols with those of countPairs.
func TestCountNear(t *testing.T) {
	if !hasAVX2 {
		t.Skip("this processor has no AVX2")
	}
	rng := rand.New(rand.NewPCG(13, 14))
	near, pairs := new([2 * numParts][nearTable]uint32), new([numParts][pairTable]uint32)
	for n := minCoded; n < 600; n++ {
		symbols := make([]byte, n, n+1)
		for i := range symbols {
			symbols[i] = byte(firstOrder1 + rng.IntN(nearSymbols))
		}
		p := parts(symbols)
		clear(near[:])
		clear(pairs[:])
		countPairs(pairs, &p)
		if !countNear(near, &p) {
			t.Fatalf("%d symbols are not near", n)
		}
		for part := range pairs {
			for before := byte(firstOrder1); isNear(before); before++ {
				for symbol := byte(firstOrder1); isNear(symbol); symbol++ {
					got, want := near[part][nearIndex(before, symbol)], pairs[part][pairIndex(before, symbol)]
					if got != want {
						t.Fatalf("%d symbols, part %d: %d times %c after %c, want %d", n, part, got, symbol, before, want)
					}
				}
			}
		}
		for i := range near[numParts:] {
			if near[numParts+i] != [nearTable]uint32{} {
				t.Fatalf("%d symbols: table %d is not cleared", n, numParts+i)
			}
		}
		for _, other := range []byte{0, firstOrder1 - 1, firstOrder1 + nearSymbols, 127, 128, 255} {
			at := rng.IntN(n)
			before := symbols[at]
			symbols[at] = other
			if countNear(near, &p) {
				t.Fatalf("%d symbols, %d at %d: near", n, other, at)
			}
			symbols[at] = before
		}
	}
}
