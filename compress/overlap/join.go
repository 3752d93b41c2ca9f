package overlap

import (
	"cmp"
	"math/bits"
	"slices"
)

// assembler joins contigs, on both strands. It holds scaffolds, which grow, and an index of their k-mers. A contig that
// overlaps one scaffold extends it; a contig that overlaps two merges them.
type assembler struct {
	scaffolds  [][]scaffold // in lists of scaffoldsPerList, so that no list is copied to grow
	parents    []int32      // the scaffold into which each was merged, or -1. Not in scaffold, as they are read most often
	slots      []uint64     // hash table of the places of k-mers; see slotCoordBits
	hashes     []uint32     // hash of the k-mer of each slot
	shift      uint
	used       int
	sampleMask uint32 // the index holds only k-mers whose hash has none of these bits set
	limits     assemblerLimits
	// full is set when a contig of two or more reads did not fit within limits.
	full            bool
	compared        int // number of candidate places of contigs that were compared
	comparisonsLeft int // number of places that may still be compared; see baseComparisons

	totalBases       int
	scaffoldMem      uint64 // memory of scaffolds in bytes
	forward, reverse []byte
	kmers            []kmer      // sampled k-mers of the current contig
	candidates       []alignment // places that share one of these k-mers
	failed           failedAlignments
}

// assemblerLimits limits the memory of an assembler. Scaffolds can be extended after the limit for new ones is reached, so
// that few scaffolds end where the genome continues.
type assemblerLimits struct {
	bases       int    // bases of all scaffolds
	startBytes  uint64 // memory of scaffolds, in bytes, above which no new one is started
	extendBytes uint64 // memory of scaffolds, in bytes, above which none is extended
	slots       int    // slots of the index, 0 for no limit; a full index keeps a smaller sample of k-mers
}

// limitsFor returns the limits of an assembler that uses at most so many bytes and bases. The index gets a quarter to half of
// the bytes.
func limitsFor(bytes uint64, bases int) assemblerLimits {
	slots := 1 << 8
	for 2*uint64(slots)*slotBytes <= bytes/2 {
		slots *= 2
	}
	grow := (bytes - min(bytes, uint64(slots)*slotBytes)) * 3 / 5 // the rest is for buffers that are being replaced and for garbage
	return assemblerLimits{bases: bases, startBytes: grow / 2, extendBytes: grow, slots: slots}
}

// newAssembler returns an assembler whose index is expected to hold so many k-mers.
func newAssembler(expected int, limits assemblerLimits) *assembler {
	b := 16
	for 1<<b < 2*expected {
		b++
	}
	if limits.slots > 0 {
		b = min(b, bits.Len(uint(limits.slots))-1)
	}
	return &assembler{
		slots:           make([]uint64, 1<<b),
		hashes:          make([]uint32, 1<<b),
		shift:           uint(32 - b),
		limits:          limits,
		comparisonsLeft: baseComparisons,
	}
}

// addContigs joins the contigs to each other and to the scaffolds, those with the most reads first.
func (a *assembler) addContigs(c *contigs, progress func(done, total int)) {
	slices.SortFunc(c.merged, func(a, b contig) int {
		if a.reads != b.reads {
			return cmp.Compare(b.reads, a.reads)
		}
		return cmp.Compare(a.order, b.order)
	})
	done := 0
	for b := range sampleContigs(c) {
		for i, c := range b.contigs {
			if i+1 < len(b.contigs) {
				a.prefetchSlots(b.kmersOf(i + 1)) // its cache misses overlap with adding this one
			}
			a.addContig(c.seq, int(c.reads), a.stillSampled(b.kmersOf(i)))
		}
		done += len(b.contigs)
		progress(done, c.count())
	}
}

// appendScaffolds appends to seq the scaffolds for which keep returns true, given their number of reads and of bases.
func (a *assembler) appendScaffolds(seq *sequence, keep func(reads, length int) bool) {
	for i := range a.parents {
		s := a.scaffold(int32(i))
		if a.parents[i] < 0 && keep(s.reads, s.hi-s.lo) {
			seq.append(s.buf[s.origin+s.lo : s.origin+s.hi])
		}
	}
}

// addContig adds one contig: inside a scaffold, at the end of one, between two, or as a new scaffold.
func (a *assembler) addContig(seq []byte, reads int, kmers []kmer) {
	n := len(seq)
	if n < seedLen {
		return
	}
	a.forward = seq
	a.failed.reset()
	a.comparisonsLeft += n
	a.reverse = slices.Grow(a.reverse[:0], n)[:n]
	for i, c := range seq {
		a.reverse[n-1-i] = 3 - c
	}
	a.kmers = kmers
	var left, right alignment
	lp := 0
	for lp = range a.kmers {
		if left = a.findAlignment(a.kmers[lp], alignment{}); left.ok {
			break
		}
	}
	if left.ok && !a.contains(left, n) {
		for p := len(a.kmers) - 1; p > lp; p-- {
			if right = a.findAlignment(a.kmers[p], left); right.ok {
				break
			}
		}
	}
	switch {
	case !left.ok:
		a.startScaffold(reads)
	case a.contains(left, n):
		a.scaffold(left.scaffold).reads += reads
	case right.ok && a.contains(right, n):
		a.scaffold(right.scaffold).reads += reads
	default:
		if a.extend(left, reads) && right.ok && right.scaffold != left.scaffold {
			a.merge(left, right, n)
		}
	}
}
