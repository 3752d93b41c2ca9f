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

// union are the k-mers of samples of one kind, of which each has all up to a limit.
type union struct {
	kind           kind
	limit          uint64
	windows, bases float64
	seen, again    []uint64 // hashes, ascending: all, and those of them that were seen more than once
}

// with returns the k-mers of u, nil for none, and of a sample.
func (u *union) with(s *Sketch) *union {
	if u == nil {
		return &union{s.kind(), s.Limit, float64(s.Windows), float64(s.Bases), s.Seen, s.Again}
	}
	limit := min(u.limit, s.Limit)
	seen := slices.Concat(upTo(u.seen, limit), upTo(s.Seen, limit))
	again := slices.Concat(upTo(u.again, limit), upTo(s.Again, limit))
	slices.Sort(seen)
	for i := 1; i < len(seen); i++ {
		if seen[i] == seen[i-1] {
			again = append(again, seen[i])
		}
	}
	slices.Sort(again)
	return &union{u.kind, limit, u.windows + float64(s.Windows), u.bases + float64(s.Bases), slices.Compact(seen), slices.Compact(again)}
}

// size returns about how many bases the pseudogenome of the samples has.
func (u *union) size() float64 {
	scale := math.MaxUint64 / float64(max(u.limit, 1))
	different, repeated := float64(len(u.seen))*scale, float64(len(u.again))*scale
	if u.kind == assemblies {
		return different
	}
	return covered(u.bases, u.windows, different, repeated)
}

// upTo returns the first hashes, those up to a limit. They are ascending.
func upTo(hashes []uint64, limit uint64) []uint64 {
	n, found := slices.BinarySearch(hashes, limit)
	if found {
		n++
	}
	return hashes[:n]
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
