package seqs

import (
	"math/rand"
	"testing"
)

// TestLeastShare: leastShare is the inverse of noneYet.
func TestLeastShare(t *testing.T) {
	for _, left := range []int{1, 2, 3, 4, 255} {
		last := uint64(0)
		for p := uint64(1); p <= 1<<16; p++ {
			s := leastShare(p, left)
			if s < last || s > 1<<16 || noneYet(s, left) < p || noneYet(s-1, left) >= p {
				t.Fatalf("%d left: share %d for probability %d, after %d", left, s, p, last)
			}
			last = s
		}
	}
}

// TestDensities: a base is in the stretch of its density, for which codeNext computes where stretches end.
func TestDensities(t *testing.T) {
	for _, left := range []int{1, 2, 3, 7, 40} {
		for bases := 1; bases < 5000; bases++ {
			if d := densityOf(left, bases); d < densities-1 && bases <= left<<6>>d || d > 0 && bases > left<<6>>(d-1) {
				t.Fatalf("%d of %d bases have density %d", left, bases, d)
			}
		}
	}
}

// TestMismatchesOfLongReads: reads around the length from which on each base is asked for come back, with all quality values, where few
// bases differ and where most do.
func TestMismatchesOfLongReads(t *testing.T) {
	r := rand.New(rand.NewSource(36))
	pg := randomBases(r, 9000)
	var reads []*overlay
	for i := range 200 {
		n := summedBases - 2 + i%5
		o := over(pg, r.Intn(len(pg)-n), n, i%2 == 1, 0)
		for range r.Intn(200) {
			o.read[r.Intn(n)] = byte(r.Intn(4))
		}
		for range n {
			o.quals = append(o.quals, byte(r.Intn(256)>>(i%3)))
		}
		reads = append(reads, o)
	}
	codedOver(t, true, pg, reads, 0)
}
