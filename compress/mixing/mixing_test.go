package mixing

import (
	"math"
	"testing"

	"orcomgo/internal/testvector"
)

func TestSquashAndStretchAgree(t *testing.T) {
	for x := -2047; x < 2048; x++ {
		want := 65536 / (1 + math.Exp(-float64(x)/256))
		if got := float64(Squash(int32(x))); math.Abs(got-want) > 10 {
			t.Fatalf("squash(%d) = %v, want %v", x, got, want)
		}
		if x > -2047 && Squash(int32(x)) < Squash(int32(x-1)) {
			t.Fatalf("squash falls at %d", x)
		}
	}
	for p := uint32(256); p < 65536-256; p += 16 {
		want := 256 * math.Log(float64(p)/(65536-float64(p)))
		if got := float64(Stretch(p)); math.Abs(got-want) > 18 {
			t.Fatalf("stretch(%d) = %v, want %v", p, got, want)
		}
	}
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
