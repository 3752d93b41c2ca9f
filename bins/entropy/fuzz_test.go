package entropy

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// fuzzLimit bounds the decoded bytes of a fuzz target, so that runs are short.
const fuzzLimit = 1 << 16

// FuzzStream decodes anything, and codes what comes out.
func FuzzStream(f *testing.F) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, n := range []int{1, 64, 200, 3001} {
		for _, order1 := range []bool{false, true} {
			f.Add(e.AppendStream(nil, randomSymbols(rng, n, 41, 33, .9), order1), n)
		}
	}
	f.Fuzz(func(t *testing.T, stored []byte, n int) {
		dst := make([]byte, uint(n)%fuzzLimit)
		if err := d.Stream(dst, stored); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("the error is %v", err)
			}
			return
		}
		roundTrip(t, dst, true)
	})
}

// FuzzNames decodes anything, and codes what comes out.
func FuzzNames(f *testing.F) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, n := range []int{1, 10, 300} {
		chunk := nameLike(rng, n)
		f.Add(e.AppendNames(nil, chunk), len(chunk))
	}
	f.Fuzz(func(t *testing.T, stored []byte, n int) {
		dst := make([]byte, uint(n)%fuzzLimit)
		if err := d.Names(dst, stored); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("the error is %v", err)
			}
			return
		}
		namesRoundTrip(t, dst)
	})
}

// FuzzRoundTrip codes any bytes as a stream and as names, and compares the names' streams with the plain reference.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("r1\nr2\nr10\nr010\n"))
	f.Add(bytes.Repeat([]byte("FFF:F,#"), 30))
	f.Fuzz(func(t *testing.T, data []byte) {
		roundTrip(t, data, false)
		roundTrip(t, data, true)
		namesRoundTrip(t, data)
		for i, want := range referenceStreams(data) {
			if !bytes.Equal(e.names[i], want) {
				t.Fatalf("stream %d is %v, want %v", i, e.names[i], want)
			}
		}
	})
}
