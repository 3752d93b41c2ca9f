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

// TestTableVectors compares squash and stretch with points of testdata/vectors/squash.txt.
func TestTableVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/squash.txt", func(t *testing.T, v *testvector.Vector) {
		f := map[string]func(x int32) int32{
			"squash":  func(x int32) int32 { return int32(Squash(x)) },
			"stretch": func(p int32) int32 { return Stretch(uint32(p)) },
		}[v.Title]
		from, want := v.Signed(t, "from"), v.Signed(t, "to")
		if len(from) == 0 || len(from) != len(want) {
			t.Fatalf("%d points and %d values", len(from), len(want))
		}
		for i, x := range from {
			if got := f(x); got != want[i] {
				t.Errorf("%s(%d) = %d, want %d", v.Title, x, got, want[i])
			}
		}
	})
}
