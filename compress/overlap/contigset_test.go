package overlap

import (
	"bytes"
	"cmp"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
)

func TestPackBases(t *testing.T) {
	r := rand.New(rand.NewSource(68))
	for n := range 100 {
		b := randomBases(r, n)
		dst := bytes.Repeat([]byte{0xff}, (n+3)/4)
		packBases(dst, b)
		if want := pack(b)[:len(dst)]; !bytes.Equal(dst, want) {
			t.Fatalf("%d bases: %v, want %v", n, dst, want)
		}
	}
}

// TestContigSet makes random changes to a set and to a plain list of contigs.
func TestContigSet(t *testing.T) {
	r := rand.New(rand.NewSource(69))
	for range 50 {
		var s contigSet
		var want []contig
		some := func() (c []contig) {
			for range r.Intn(600) {
				c = append(c, packedContig(randomBases(r, 1+r.Intn(90)), uint32(1+r.Intn(4))<<(r.Intn(40)/39*16)))
			}
			return c
		}
		grow := func(s *contigSet, c []contig) {
			s.grow(len(c), 1+r.Intn(3), func(i int) (int, uint64) { return c[i].n, uint64(c[i].reads) },
				func(i int, dst []byte) { copy(dst, c[i].packed) })
		}
		for range 10 {
			step := r.Intn(4)
			switch c := some(); step {
			case 0:
				grow(&s, c)
				want = append(want, c...)
			case 1:
				var other contigSet
				grow(&other, c)
				s.append(&other, 1+r.Intn(3))
				want = append(want, c...)
			case 2:
				n := r.Intn(len(want) + 10)
				s.truncate(n)
				want = want[:min(n, len(want))]
			case 3:
				s.rank(1 + r.Intn(3))
				slices.SortStableFunc(want, func(a, b contig) int { return cmp.Compare(b.reads, a.reads) })
			}
			total := 0
			if s.count() != len(want) || len(s.reads) != len(want) || len(s.start) != len(want) || len(s.left) != len(want) {
				t.Fatalf("step %d: %d contigs, want %d", step, s.count(), len(want))
			}
			for c, w := range want {
				total += w.n
				if got := bases.Unpack(nil, s.of(uint32(c)), 0, int(s.length[c])); !bytes.Equal(got, w.bases()) || s.reads[c] != uint64(w.reads) ||
					s.left[c] != s.length[c]/2+16 || len(s.of(uint32(c))) < (w.n+3)/4+bases.Pad {
					t.Fatalf("step %d: contig %d of %d is %v of %d reads, want %v of %d", step, c, len(want), got, s.reads[c], w.bases(), w.reads)
				}
			}
			if s.bases != uint64(total) {
				t.Fatalf("step %d: %d bases, want %d", step, s.bases, total)
			}
		}
	}
}

// TestRanks: several goroutines rank contigs as one does.
func TestRanks(t *testing.T) {
	r := rand.New(rand.NewSource(70))
	for _, most := range []int{3, maxCountedReads + 1} {
		s := contigSet{reads: make([]uint64, 3*leastRanked)}
		var all []uint32
		for i := range s.reads {
			s.reads[i] = uint64(1 + r.Intn(most))
			all = append(all, uint32(i))
		}
		want := slices.Clone(all)
		slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(s.reads[b], s.reads[a]) })
		if s.byRank(all, 4); !slices.Equal(all, want) {
			t.Errorf("contigs of up to %d reads are in another order", most)
		}
	}
}
