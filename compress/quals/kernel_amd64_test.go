//go:build amd64

package quals

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"
)

// The vector instructions and plain Go give the same bytes.
func TestPlainAsVectors(t *testing.T) {
	if !hasVectors {
		t.Skip("the processor does not have the instructions")
	}
	for _, c := range columns() {
		for _, in := range []Input{c.in, withBases(c.in)} {
			want := Encode(in)
			hasVectors = false
			got := Encode(in)
			decoded, err := Decode(want, in)
			hasVectors = true
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: the streams differ", c.name)
			}
			if err != nil || !bytes.Equal(decoded, in.Quals) {
				t.Fatalf("%s: decoded without vectors: %v", c.name, err)
			}
		}
	}
}

// Intervals of all sizes, from 1 to all, are encoded to the same words.
func TestEncodePlainAsVectors(t *testing.T) {
	if !hasVectors {
		t.Skip("the processor does not have the instructions")
	}
	r := rand.New(rand.NewSource(14))
	for range 300 {
		plain := make([]uint16, r.Intn(100)*roundValues)
		for i := range plain {
			if i/numLanes%2 == 0 {
				less := r.Intn(1<<16) >> r.Intn(17) // the size less 1
				if r.Intn(10) == 0 {
					less = 1<<16 - 1
				}
				plain[i], plain[i+numLanes] = uint16(r.Intn(1<<16-less)), uint16(less)
			}
		}
		vectors := slices.Clone(plain)
		var states, want [numLanes]uint32
		for l := range states {
			states[l] = stateStart + uint32(r.Int63n(1<<32-stateStart))>>r.Intn(16)
		}
		want = states
		at := encodePlain(plain, &want)
		if got := encodeWords(vectors, &states); got != at || states != want || !slices.Equal(vectors[got:], plain[at:]) {
			t.Fatalf("%d words and states %x, want %d and %x", len(vectors)-got, states, len(plain)-at, want)
		}
	}
}
