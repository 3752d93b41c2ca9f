package seqs

import (
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
)

// TestGroupsRoundTrip: reads of one place come back whatever their number, length, strand and mismatches, also where only the first ones
// are wanted, and take less than one by one.
func TestGroupsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(170))
	pg := randomBases(r, 700)
	packed := packedBases(pg)
	e, m := encodeTo(nil), newMismatches(false, uint64(len(pg)))
	alone, single := encodeTo(nil), newMismatches(false, uint64(len(pg)))
	type group struct {
		w     alignment
		reads []*overlay
	}
	var all []group
	for k := range 60 {
		n, rev := 1+r.Intn(140), k%2 == 1
		at := r.Intn(len(pg) - n)
		g := group{w: alignment{uint64(at), rev, n}}
		for range 2 + r.Intn(1+k*k/4) {
			var wrong []int
			for i := at; i < at+n; i++ {
				if r.Intn(40) == 0 || i%50 == 7 && r.Intn(3) == 0 {
					wrong = append(wrong, i)
				}
			}
			g.reads = append(g.reads, over(pg, at, n, rev, byte(r.Intn(4)), wrong...))
		}
		ref := stretch{packed, at}
		slices.SortStableFunc(g.reads, func(a, b *overlay) int { return compareTied(a.words(), b.words(), g.w, ref) })
		m.codeGroup(e, g.w, ref, len(g.reads), func(i int) []uint64 { return g.reads[i].words() }, nil)
		for _, o := range g.reads {
			single.code(alone, g.w, ref, o.words(), nil, nil, nil)
		}
		all = append(all, g)
	}
	data := e.Enc.Finish()
	if one := len(alone.Enc.Finish()); len(data) > one*3/4 {
		t.Errorf("%d bytes, one by one %d", len(data), one)
	}
	d, m := decodeFrom(data), newMismatches(false, uint64(len(pg)))
	for k, g := range all {
		got := make([][]byte, len(g.reads))
		for i := range got[:(len(got)+k%3)/(1+k%3)] {
			got[i] = make([]byte, g.w.n)
		}
		m.codeGroup(d, g.w, stretch{packed, int(g.w.pos)}, len(got), nil, func(i int) []byte { return got[i] })
		for i, text := range got {
			for j := range text {
				if text[j] != bases.Letters[g.reads[i].read[j]] {
					t.Fatalf("group %d: base %d of read %d is %c, want %c", k, j, i, text[j], bases.Letters[g.reads[i].read[j]])
				}
			}
		}
	}
}
