package fmindex

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSlicesOver: each slice with a read over a stretch is found, and none whose reads begin far from there.
func TestSlicesOver(t *testing.T) {
	const bases = 200_000
	for _, reads := range []int{0, 1, 20, 5000} {
		t.Run(fmt.Sprint(reads), func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, uint64(reads)))
			b := NewBegins(bases)
			all := make([][]Stretch, 50)
			span := 0
			for s := range all {
				var begins []uint32
				for range reads * (s % 3) {
					n := 30 + r.IntN(100)
					at := r.IntN(bases - n)
					all[s] = append(all[s], Stretch{at, at + n})
					begins = append(begins, uint32(at))
					span = max(span, n)
				}
				b.AddSlice(begins, uint32(span))
			}
			l := new(Literals)
			for range all {
				l.EndSlice()
			}
			built, err := Build(Content{Text: draw(r, bases), Coverage: NewCoverage(bases, Window), Literals: l, Begins: b}, 2)
			if err != nil {
				t.Fatal(err)
			}
			file := built.Bytes()
			x, err := openFile(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes for %d reads", len(file)-int(x.mainLen), reads*50)
			for range 50 {
				var wanted []Stretch
				for range 1 + r.IntN(3) {
					at := r.IntN(bases - 40)
					wanted = append(wanted, Stretch{at, at + 12 + r.IntN(28)})
				}
				slices.SortFunc(wanted, func(a, b Stretch) int { return a.From - b.From })
				got, err := x.SlicesOver(wanted, 2)
				if err != nil || !slices.IsSorted(got) {
					t.Fatal(got, err)
				}
				for s, reads := range all {
					over, near := false, false
					for _, w := range wanted {
						over = over || slices.ContainsFunc(reads, func(r Stretch) bool { return r.From <= w.From && w.To <= r.To })
						near = near || slices.ContainsFunc(reads, func(r Stretch) bool {
							return r.From < w.From+partBases && r.From > w.To-span-partBases
						})
					}
					if found := slices.Contains(got, s); over && !found || found && !near {
						t.Fatalf("slice %d for %v: %v", s, wanted, found)
					}
				}
			}
			file[x.mainLen+1] ^= 1
			if reads == 0 {
				return // no block is needed
			}
			if _, err := x.SlicesOver([]Stretch{{100, 120}}, 1); !errors.Is(err, ErrCorrupt) {
				t.Errorf("a byte changed: %v", err)
			}
		})
	}
}
