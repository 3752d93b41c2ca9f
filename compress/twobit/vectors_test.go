package twobit

import (
	"testing"

	"orcomgo/internal/testvector"
)

// TestVectors codes the letters of testdata/vectors/twobit.txt and decodes them.
func TestVectors(t *testing.T) {
	seen := make(map[byte]bool)
	testvector.Run(t, "../../testdata/vectors/twobit.txt", func(t *testing.T, v *testvector.Vector) {
		letters := []byte(v.Text(t, "letters"))
		packed, runs := pack(letters)
		for _, o := range find(packed, len(letters), fillsOf(runs)) {
			seen[o.kind] = true
		}
		roundTrip(t, letters, v.Bytes(t, "bytes", Encode(letters)))
	})
	if len(seen) != kinds {
		t.Errorf("the vectors have copies of the kinds %v", seen)
	}
}

// roundTrip decodes data and compares what comes back.
func roundTrip(t *testing.T, letters, data []byte) {
	t.Helper()
	s, err := Decode(nil, data, len(letters))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.AppendLetters([]byte("x"), 0, s.Len()); string(got) != "x"+string(letters) {
		t.Fatalf("%d letters are others", len(letters))
	}
}

// FuzzDecode decodes any bytes: they are refused, or give as many letters as asked for.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"masked", "both shifted", "N in the gaps", "long tandem", "one", "all letters"} {
		letters := cases()[name]
		f.Add(Encode(letters), len(letters))
	}
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if n < 0 || n > 1<<20 {
			return
		}
		s, err := Decode(nil, data, n)
		if err != nil {
			return
		}
		letters := s.AppendLetters(nil, 0, n)
		if len(letters) != n {
			t.Fatalf("%d letters, expected %d", len(letters), n)
		}
		again := Encode(letters)
		roundTrip(t, letters, again)
	})
}
