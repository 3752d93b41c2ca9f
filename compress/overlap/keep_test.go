package overlap

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
)

// TestKeep: the bases that are kept are side by side, wherever runs begin in a byte.
func TestKeep(t *testing.T) {
	r := rand.New(rand.NewSource(160))
	for _, n := range []int{0, 1, 3, 4, 63, 64, 65, 1000, 5000} {
		for _, share := range []int{0, 1, 50, 99, 100} { // of the runs, in percent
			all := make([]byte, n)
			for i := range all {
				all[i] = byte(r.Intn(4))
			}
			kept := newBitset(n)
			var want []byte
			for i := 0; i < n; {
				run := min(1+r.Intn(1+r.Intn(200)), n-i)
				if r.Intn(100) < share {
					kept.addRange(i, i+run)
					want = append(want, all[i:i+run]...)
				}
				i += run
			}
			kept.words[len(kept.words)-1] |= ^uint64(0) << (n & 63) // what is after the sequence does not matter
			var s sequence
			s.append(slices.Clone(all))
			s.grow(0)
			s.keep(&kept)
			if got := bases.Unpack(nil, s.packed, 0, s.n); !bytes.Equal(got, want) {
				t.Fatalf("%d bases: %d are kept, want %d, or others", n, s.n, len(want))
			}
			for _, b := range s.packed[(s.n+3)/4:] {
				if b != 0 || len(s.packed) != (s.n+3)/4+bases.Pad {
					t.Fatalf("%d bytes follow %d bases, or are not 0", len(s.packed)-s.n/4, s.n)
				}
			}
			if s.n&3 != 0 && s.packed[s.n/4]>>(2*(s.n&3)) != 0 {
				t.Fatalf("the last byte of %d bases is %b", s.n, s.packed[s.n/4])
			}
		}
	}
}
