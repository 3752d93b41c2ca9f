package overlap

import (
	"math/rand"
	"slices"
	"testing"
)

// TestContainedContigs: a short contig with few differences from a part of one of more reads, on either strand, is left out; one that
// differs more, that is longer, or of more reads, is not.
func TestContainedContigs(t *testing.T) {
	r := rand.New(rand.NewSource(61))
	genome := randomLetters(r, 300)
	changed := func(s string, at ...int) string {
		b := []byte(s)
		for _, i := range at {
			b[i] = "CAGT"[(b[i]>>1)&3]
		}
		return string(b)
	}
	contigs := []struct {
		letters string
		reads   uint64
		kept    bool
	}{
		{changed(genome[40:62], 9), 3, false},
		{genome, 50, true},
		{changed(reverseComplement(genome[100:124]), 5, 16), 4, false},
		{changed(genome[200:222], 1, 5, 9, 13, 17), 3, true},
		{changed(genome[150:210], 30), 9, true}, // three reads long
		{randomLetters(r, 25), 2, true},
		{changed(genome[250:272], 11), 60, true},
	}
	var s contigSet
	s.grow(len(contigs), 1, func(i int) (int, uint64) { return len(contigs[i].letters), contigs[i].reads }, func(i int, dst []byte) {
		packBases(dst, codes(contigs[i].letters))
	})
	var all, want []uint32
	total := 0
	for i, c := range contigs {
		total += len(c.letters)
		if all = append(all, uint32(i)); c.kept {
			want = append(want, uint32(i))
		}
	}
	for threads := 1; threads <= 3; threads += 2 {
		if got := s.withoutContained(slices.Clone(all), total, 20, threads); !slices.Equal(got, want) {
			t.Errorf("contigs %v are left, want %v", got, want)
		}
	}
}

// TestShortReadsHaveShortSeeds: reads of 22 bases with three errors, so that no 13 bases are right in a row, have the place that they were
// drawn from.
func TestShortReadsHaveShortSeeds(t *testing.T) {
	r := rand.New(rand.NewSource(62))
	genome := randomLetters(r, 400)
	var reads []string
	for at := 0; at+22 <= len(genome); at++ {
		reads = append(reads, genome[at:at+22], genome[at:at+22])
	}
	right := len(reads)
	for at := 0; at+22 <= len(genome); at += 7 {
		b := []byte(genome[at : at+22])
		for _, i := range []int{4, 11, 18} {
			b[i] = "CAGT"[(b[i]>>1)&3]
		}
		reads = append(reads, string(b))
	}
	l := layOut(t, archiveOf(t, oneBlock, reads), Config{Threads: 2, Whole: true})
	for rec := right; rec < len(reads); rec++ {
		if pos, _ := l.Place(uint32(rec)); pos == Unplaced {
			t.Errorf("read %d, %s, has no place", rec, reads[rec])
		} else if got := len(differences(reads[rec], l.sequenceAt(uint32(rec), 22))); got > 3 {
			t.Errorf("read %d, %s, has %d mismatches", rec, reads[rec], got)
		}
	}
}
