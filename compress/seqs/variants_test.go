package seqs

import (
	"math"
	"runtime/debug"
	"testing"
)

// TestReleasedVariants: large tables of variants are used again, but not where the process may take little memory.
func TestReleasedVariants(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
	const size = 1 << 22
	for _, c := range []struct {
		limit int64
		again bool
	}{{4 << 20, false}, {8 << 20, true}, {math.MaxInt64, true}} {
		debug.SetMemoryLimit(math.MaxInt64) // which would collect all the same
		again := false
		for range 100 { // under the race detector pools drop some at random, and goroutines change processors
			v := newVariants(size)
			v.note(7, 1)
			debug.SetMemoryLimit(c.limit)
			v.release()
			debug.SetMemoryLimit(math.MaxInt64)
			w := newVariants(size)
			again = again || w == v
			if w.next(0, size) < size {
				t.Fatalf("limit %d: variants are not empty", c.limit)
			}
		}
		if again != c.again {
			t.Errorf("limit %d: used again: %v", c.limit, again)
		}
	}
}
