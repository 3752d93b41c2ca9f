package overlap

import (
	"context"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

func TestIsShared(t *testing.T) {
	for _, c := range []struct {
		reads, depth uint32
		want         bool
	}{{0, 0, false}, {1, 1, false}, {2, 2, true}, {2, 127, true}, {2, 128, false}, {3, 128, true}, {9, 1000, true}, {8, 1000, false}} {
		if got := isShared(c.reads, c.depth); got != c.want {
			t.Errorf("%d of %d reads: %v, want %v", c.reads, c.depth, got, c.want)
		}
	}
}

func TestIsPoor(t *testing.T) {
	for _, c := range []struct {
		n, mismatches, shared int
		want                  bool
	}{
		{100, 2, 2, false}, {100, 3, 3, true}, {100, 12, 3, true}, {100, 12, 2, false}, {100, 13, 0, true},
		{40, 3, 3, true}, {20, 3, 0, true}, {16, 2, 2, false}, {200, 4, 4, false}, {200, 5, 4, true}, {700, 14, 14, false}, {700, 15, 3, true},
	} {
		if got := isPoor(c.n, c.mismatches, c.shared); got != c.want {
			t.Errorf("%d bases with %d mismatches, %d of them shared: %v, want %v", c.n, c.mismatches, c.shared, got, c.want)
		}
	}
}

// TestPoorReads: reads of an allele that fewer reads have are poorly placed, as they share their mismatches; so is a shifted
// read. Reads with errors that none shares are not, nor those where only the pseudogenome is wrong.
func TestPoorReads(t *testing.T) {
	r := rand.New(rand.NewSource(75))
	genome := randomLetters(r, 3<<voteBucketBits)
	var wrong, errors []int
	for at := 10; at < len(genome); at += 25 {
		wrong = append(wrong, at)
	}
	for at := 20; at < len(genome); at += 31 {
		errors = append(errors, at)
	}
	allele, pg := changed(genome, wrong...), changed(genome, errors...)
	n := func(s string, bases int) string { return strings.Repeat("N", len(s)-bases) + s[len(s)-bases:] }
	var ds []drawn
	var want []uint32
	for at := 0; at+150 < len(genome); at += 10 {
		for k := range 3 {
			errors := 0
			if k == 2 && at%50 == 0 {
				errors = 5
			}
			ds = append(ds, draw(r, genome, at, 100, errors, k%2 == 0))
		}
		if at%20 == 0 {
			want = append(want, uint32(len(ds)))
			ds = append(ds, draw(r, allele, at, 100, 0, at%40 == 0))
		}
	}
	shifted := draw(r, genome, 501, 100, 0, false)
	shifted.at = 500
	few := draw(r, allele, 600, 100, 0, false)
	few.read = n(few.read, seedLen-1)
	enough := draw(r, allele, 600, 100, 0, false)
	enough.read = n(enough.read, 80)
	long := draw(r, allele, 2000, maxOverlapped+1, 0, false)
	want = append(want, uint32(len(ds)), uint32(len(ds)+2))
	ds = append(ds, shifted, few, enough, long)
	var first []uint64
	for _, work := range []uint64{1, 60_000, math.MaxUint64} {
		for _, threads := range []int{1, 5} {
			for _, limit := range []uint64{0, 20_000} {
				b := placedAs(t, pg, ds)
				b.config.Threads, b.workBytes = threads, work
				if limit > 0 {
					var err error
					if b.shares, err = b.records.shares(limit); err != nil || len(b.shares) < 3 {
						t.Fatalf("%d shares: %v", len(b.shares), err)
					}
					b.allReads = nil
				}
				if err := b.voteAndSelectPoor(context.Background()); err != nil {
					t.Fatal(err)
				}
				if at := differences(b.letters(), genome); len(at) > 20 { // few reads cover the ends
					t.Fatalf("voting leaves the pseudogenome wrong at %v", at)
				}
				var got []uint32
				for rec := range uint32(len(ds)) {
					if b.poor.Has(rec) {
						got = append(got, rec)
					}
				}
				// Errors can be shared by chance, and a read of the allele at an end need not share enough.
				missing, wrongly := 0, 0
				for _, rec := range want {
					if !slices.Contains(got, rec) {
						missing++
					}
				}
				for _, rec := range got {
					if !slices.Contains(want, rec) {
						wrongly++
					}
				}
				if missing > len(want)/50 || wrongly > len(ds)/500 {
					t.Errorf("%d bytes, %d threads: %d of %d reads are missing, %d others are poor", work, threads, missing, len(want), wrongly)
				}
				if last := want[len(want)-2:]; !slices.Contains(got, last[0]) || !slices.Contains(got, last[1]) {
					t.Error("the shifted read or the one with N is not poor")
				}
				if first == nil {
					first = b.poor.words
				} else if !slices.Equal(first, b.poor.words) {
					t.Errorf("%d bytes, %d threads, shares of %d bytes: other reads are poor", work, threads, limit)
				}
			}
		}
	}
}
