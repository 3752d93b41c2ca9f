package edits

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"
)

// TestTemplate: whatever parts it is read in, a template has the oriented bases, and classes as their definition says.
func TestTemplate(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 300 {
		shared := make([]byte, 1+r.Intn(400))
		for i := range shared {
			if shared[i] = byte(r.Intn(4)); i > 0 && r.Intn(3) > 0 {
				shared[i] = shared[i-1]
			}
		}
		o := &Options{Bases: uint64(len(shared)), Source: func(dst []byte, pos, n int) []byte { return append(dst, shared[pos:pos+n]...) }}
		x := template{o: o}
		for range 3 {
			anchor, reverse := r.Intn(len(shared)), r.Intn(2) == 1
			want := slices.Clone(shared[anchor:])
			if reverse {
				want = slices.Clone(shared[:anchor+1])
				slices.Reverse(want)
				for i := range want {
					want[i] = 3 - want[i]
				}
			}
			x.begin(uint64(anchor), reverse, r.Intn(len(want)+1))
			for {
				k := min(len(x.bases), len(want))
				if !bytes.Equal(x.bases[:k], want[:k]) {
					t.Fatalf("the bases are %d, want %d", x.bases[:k], want[:k])
				}
				x.runsAt = 0
				x.classify(x.known)
				for i, got := range x.runs {
					class := uint8(0) // of the base that is not there
					if i < len(want) {
						first, n := i, 1
						for first > 0 && want[first-1] == want[i] {
							first--
						}
						for first+n < len(want) && want[first+n] == want[i] && n < longestRun {
							n++
						}
						class = uint8(2 * (n - 1))
						if first < i {
							class |= 1
						}
					}
					if got != class {
						t.Fatalf("base %d of %d has class %d, want %d", i, want, got, class)
					}
				}
				if x.complete() {
					break
				}
				x.extend(r.Intn(30))
			}
			if x.known != len(want)+1 || len(x.bases) != len(want)+1 {
				t.Fatalf("%d classes of %d bases, want %d", x.known, len(x.bases), len(want)+1)
			}
		}
	}
}
