package parity

import (
	"math/rand"
	"os"
	"path/filepath"
	"testing"
)

// TestProtectAnew: parity is written where there is less than is asked for, and only there; shares of few sectors are rounded.
func TestProtectAnew(t *testing.T) {
	rng := rand.New(rand.NewSource(9))
	for _, size := range []int{1, 5_000, 708_185, 1_300_000} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, randomBytes(rng, size), 0o666); err != nil {
			t.Fatal(err)
		}
		least := 0.0 // that is there
		for _, share := range []float64{0.01, 0.01, 0.053, 0.053, 0.02, 0.2, 0.2} {
			done, err := ProtectAnew(path, [16]byte{1}, RepairOptions{Share: share, Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			if done.Written && share <= least || !done.Written && least == 0 || !done.Written && share > least && size > 500_000 {
				t.Errorf("%d bytes with a share of %v, then %v: written %v", size, least, share, done.Written)
			}
			least = max(least, share)
		}
	}
}
