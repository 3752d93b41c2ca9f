package binning

import (
	"bytes"
	"math/rand"
	"testing"
)

func TestIndexNewline(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	b := make([]byte, 40)
	for range 100_000 {
		for i := range b {
			b[i] = "\n\n\v\t\x8a\x0b\x00\xffAC"[rng.Intn(10)]
			if rng.Intn(3) > 0 {
				b[i] = "\v\t\x8aA"[rng.Intn(4)]
			}
		}
		text := b[rng.Intn(20) : 20+rng.Intn(21)]
		if got, want := indexNewline(text), bytes.IndexByte(text, '\n'); got != want {
			t.Fatalf("%q: %d, want %d", text, got, want)
		}
	}
}
