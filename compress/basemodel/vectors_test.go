package basemodel

import (
	"slices"
	"strings"
	"testing"

	"orcomgo/internal/testvector"
)

// codesOf returns the bases of letters, one a byte.
func codesOf(letters string) []byte {
	b := []byte(letters)
	for i, c := range b {
		b[i] = byte(strings.IndexByte("ACGT", c))
	}
	return b
}

// TestVectors codes the pseudogenomes of testdata/vectors/bases.txt and decodes them.
func TestVectors(t *testing.T) {
	coders := make(map[int]bool)
	testvector.Run(t, "../../testdata/vectors/bases.txt", func(t *testing.T, v *testvector.Vector) {
		letters := v.Text(t, "bases")
		if v.Has("times") {
			letters = strings.Repeat(letters, v.Int(t, "times"))
			letters = letters[:len(letters)-v.Int(t, "less")]
		}
		b := codesOf(letters)
		coders[codersOf(cutSegments(len(b), 4, 0))] = true
		data := v.Bytes(t, "bytes", Encode(len(b), sourceOf(b), Options{Threads: 2}))
		if !slices.Equal(decoded(t, data, 2), b) {
			t.Fatal("other bases are decoded")
		}
	})
	if !coders[1] || !coders[2] || !coders[4] {
		t.Errorf("vectors have segments of %v coders, want 1, 2 and 4", coders)
	}
}
