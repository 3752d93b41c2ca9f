package general

import (
	"math/rand"
	"testing"
)

// TestEqualBytes: the vector instructions count what the plain code does.
func TestEqualBytes(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	for _, size := range []int{1, 31, 32, 33, 255 * 32, 256 * 32, 70_000} {
		a := make([]byte, size+100)
		for i := range a {
			a[i] = byte(r.Intn(2))
		}
		for _, same := range []bool{false, true} {
			b := a[99:]
			if same {
				b = a[:size+1]
			}
			want := 0
			for i, c := range b {
				if a[i] == c {
					want++
				}
			}
			if got := equalBytes(a, b); got != want {
				t.Errorf("%d bytes: %d are equal, want %d", len(b), got, want)
			}
		}
	}
}
