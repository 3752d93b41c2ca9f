package groups

import (
	"math"
	"slices"
)

// kind is what the sequences of a sample are. Those of different kinds are not laid out together: a pseudogenome has reads of up to 700
// bases in one part and what is longer in another, so that it has a genome twice that samples of both kinds have.
type kind int

const (
	assemblies kind = iota
	shortReads
	longReads
)

// longRead is from which mean length on, in bases, reads are long ones.
const longRead = 701

func (s *Sketch) kind() kind {
	switch {
	case (K-1)*s.Bases < longRead*(s.Bases-s.Windows): // a sequence has K-1 k-mers fewer than bases
		return shortReads
	case s.Assembly:
		return assemblies
	}
	return longReads
}

// union returns about how many bases the pseudogenome of samples has, whose kind is the same.
func union(list []Sample, part []int) float64 {
	limit := uint64(math.MaxUint64)
	var windows, bases float64
	for _, i := range part {
		limit = min(limit, list[i].Limit)
		windows, bases = windows+float64(list[i].Windows), bases+float64(list[i].Bases)
	}
	var seen, again []uint64
	for _, i := range part {
		seen, again = appendUpTo(seen, list[i].Seen, limit), appendUpTo(again, list[i].Again, limit)
	}
	slices.Sort(seen)
	slices.Sort(again)
	different, repeated := 0, 0 // k-mers, and those of them that were seen more than once
	for i := 0; i < len(seen); different++ {
		n := 1
		for i+n < len(seen) && seen[i+n] == seen[i] {
			n++
		}
		if _, ok := slices.BinarySearch(again, seen[i]); ok || n > 1 {
			repeated++
		}
		i += n
	}
	scale := math.MaxUint64 / float64(max(limit, 1))
	if list[part[0]].kind() == assemblies {
		return float64(different) * scale
	}
	return covered(bases, windows, float64(different)*scale, float64(repeated)*scale)
}

// appendUpTo appends the first hashes, those up to a limit. They are ascending.
func appendUpTo(dst, hashes []uint64, limit uint64) []uint64 {
	n, found := slices.BinarySearch(hashes, limit)
	if found {
		n++
	}
	return append(dst, hashes[:n]...)
}

// covered returns about how many bases of a genome are in reads of so many bases. They have so many k-mers, of which so many are different,
// and so many of these were seen more than once.
//
// If reads begin anywhere, a base is in a number of them that is distributed as Poisson says (Lander and Waterman, Genomic mapping by
// fingerprinting random clones, Genomics 1988, DOI 10.1016/0888-7543(88)90007-9). Let x be how often k-mers of the genome were seen on
// average. Per k-mer of the genome, 1 - exp(-x) are different, 1 - exp(-x) * (1 + x) were seen more than once, and x - 1 + exp(-x) times
// one was seen again. K-mers with errors are seen once, and never again, so the quotient of the last two has none of them.
func covered(bases, kmers, different, again float64) float64 {
	if kmers == 0 {
		return 0
	}
	most := different * bases / kmers
	if again <= 0 || kmers-different <= again {
		return most // hardly anything was seen again
	}
	more := (kmers - different) / again
	lo, hi := 0.01, 100.0
	for range 40 {
		if x := (lo + hi) / 2; x-1+math.Exp(-x) < more*(1-math.Exp(-x)*(1+x)) {
			lo = x
		} else {
			hi = x
		}
	}
	genome := again / (1 - math.Exp(-lo)*(1+lo))
	return min(genome*(1-math.Exp(-bases/genome)), most)
}
