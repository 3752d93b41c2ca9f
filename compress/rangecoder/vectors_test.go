package rangecoder

import (
	"strings"
	"testing"

	"orcomgo/internal/testvector"
)

// TestVectors codes the decisions of testdata/vectors/rangecoder.txt and decodes them.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/rangecoder.txt", func(t *testing.T, v *testvector.Vector) {
		probabilities, bits := v.Ints(t, "probabilities"), strings.Join(v.Words(t, "bits"), "")
		p := func(i int) uint32 { return probabilities[i%len(probabilities)] }
		e := NewEncoder(nil)
		for i, b := range bits {
			e.Encode(int(b-'0'), p(i))
		}
		d := NewDecoder(v.Bytes(t, "bytes", e.Finish()))
		for i, b := range bits {
			if got := d.Decode(p(i)); got != int(b-'0') {
				t.Fatalf("bit %d is %d, want %c", i, got, b)
			}
		}
		if err := d.Err(); err != nil {
			t.Fatal(err)
		}
	})
}
