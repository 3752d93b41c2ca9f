package ans

import (
	"math/rand"
	"slices"
	"testing"
)

// Intervals of all sizes, from 1 to all, are encoded to the same words.
func TestEncodePlainAsVectors(t *testing.T) {
	if !HasVectors {
		t.Skip("the processor does not have the instructions")
	}
	r := rand.New(rand.NewSource(14))
	for turn := range uint(300) {
		bits := 16 - turn%3
		plain := make([]uint16, r.Intn(100)*RoundValues)
		for i := range plain {
			if i/Lanes%2 == 0 {
				less := r.Intn(1<<bits) >> r.Intn(17) // the size less 1
				if r.Intn(10) == 0 {
					less = 1<<bits - 1
				}
				plain[i], plain[i+Lanes] = uint16(r.Intn(1<<bits-less)), uint16(less)
			}
		}
		vectors := slices.Clone(plain)
		var states, want [Lanes]uint32
		for l := range states {
			states[l] = Start + uint32(r.Int63n(1<<32-Start))>>r.Intn(16)
		}
		want = states
		at := encodePlain(plain, &want, bits)
		if got := Encode(vectors, &states, bits); got != at || states != want || !slices.Equal(vectors[got:], plain[at:]) {
			t.Fatalf("%d words and states %x, want %d and %x", len(vectors)-got, states, len(plain)-at, want)
		}
	}
}
