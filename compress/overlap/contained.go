package overlap

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
	"unsafe"

	"orcomgo/bases"
	"orcomgo/internal/prefetch"
)

// Contigs that differ from another one in a base or two of some twenty share no k-mer of seedLen bases with it, so they were not joined.
// Most have an error that came more than once, or are a rare version of a molecule. Their reads cost less as differences from the other
// one than with bases of their own.

const (
	// containedTimes is how many reads long a contig is at most that may be left out because another one contains it.
	containedTimes = 2
	// basesPerDifference: it differs in one of so many bases at most, each of which costs about as much as three bases.
	basesPerDifference = 6
	// hostsOfKmer is how many places of a k-mer are compared: in the contigs of most reads.
	hostsOfKmer = 8
)

// hosts are contigs end to end, those of most reads first, in which others may lie.
type hosts struct {
	set     *contigSet
	contigs []uint32
	start   []int // of each in seq
	seq     sequence
	index   *kmerIndex
}

// containedBytes returns the memory that withoutContained takes for so many bases.
func containedBytes(n int, readBases uint64) uint64 {
	_, mask := containedSeeds(n, readBases)
	return uint64(n) * (2 + 25/(mask+1))
}

// containedSeeds returns the k and the sampleMask of the index: contigs of short reads need all k-mers, and those by chance.
func containedSeeds(n int, readBases uint64) (k int, sampleMask uint64) {
	if readBases <= mostShort {
		return shortSeed(n), 0
	}
	return 16, 3
}

// withoutContained returns the contigs of the list, n bases, in its order, but for those that lie, with few differences, in one
// before them by number of reads.
func (s *contigSet) withoutContained(contigs []uint32, n int, readBases uint64, threads int) []uint32 {
	h := hosts{set: s, contigs: slices.Clone(contigs)}
	slices.SortStableFunc(h.contigs, func(a, b uint32) int { return cmp.Compare(s.reads[b], s.reads[a]) })
	h.seq.grow(n)
	for _, c := range h.contigs {
		h.start = append(h.start, h.seq.n)
		h.seq.appendPacked(s.of(c), int(s.length[c]))
	}
	k, mask := containedSeeds(n, readBases)
	h.index = newKmerIndex(h.seq.packed, 0, n, k, mask, hostsOfKmer, nil, threads)
	contained := make([]bool, s.count())
	inParallel(threads, len(h.contigs), joinRange, func(_, from, to int) {
		var reverse []byte
		var seeds []containedSeed
		for i := from; i < to; i++ {
			if c := h.contigs[i]; uint64(s.length[c]) <= containedTimes*readBases {
				reverse = slices.Grow(reverse[:0], int(s.length[c])/4+2*bases.Pad)[:int(s.length[c])/4+2*bases.Pad]
				bases.ReverseComplementInto(reverse, s.of(c), int(s.length[c]))
				seeds = h.appendSeeds(seeds[:0], s.of(c), int(s.length[c]))
				contained[c] = h.contain(i, seeds, s.of(c), reverse)
			}
		}
	})
	return slices.DeleteFunc(contigs, func(c uint32) bool { return contained[c] })
}

// containedSeed is a k-mer of a contig that the index may hold, from its slot on.
type containedSeed struct {
	place     int // the base at which it begins << 1 | 1 if its reverse complement is the smaller
	segment   int
	key, slot uint64
}

// appendSeeds appends the seeds of n bases of p, and loads their slots into the cache.
func (h *hosts) appendSeeds(seeds []containedSeed, p []byte, n int) []containedSeed {
	var found sampledBlock
	for from, kmers := 0, n-h.index.k+1; from < kmers; from += kmerBlock {
		hashes, places := found.sample(p, from, min(kmerBlock, kmers-from), h.index.k, h.index.sampleShift(), 1)
		for i, hash := range hashes {
			segment, key, slot := h.index.find(hash)
			prefetch.Line(unsafe.Pointer(&h.index.segments[segment][slot]))
			seeds = append(seeds, containedSeed{int(places[i]), segment, key, slot})
		}
	}
	return seeds
}

// contain reports whether contig i, of which the seeds are, and which is also given reversed and complemented, lies in one before it.
func (h *hosts) contain(i int, seeds []containedSeed, forward, reverse []byte) bool {
	n, k := int(h.set.length[h.contigs[i]]), h.index.k
	limit := n / basesPerDifference
	for _, s := range seeds {
		slots := h.index.segments[s.segment]
		for slot := s.slot; slots[slot] != 0; {
			e := slots[slot]
			if slot++; slot == uint64(len(slots)) {
				slot = 0
			}
			if e>>33 != s.key {
				continue
			}
			b, at := forward, s.place>>1
			if int(e>>32&1) != s.place&1 {
				b, at = reverse, n-k-at
			}
			pos := int(uint32(e)) - at
			if pos >= 0 && pos+n <= h.start[i] && bases.CountDiffering(h.seq.packed, pos, b, 0, n, limit, nil) <= limit && h.within(pos, n) {
				return true
			}
		}
	}
	return false
}

// within reports whether n bases from pos on are of one contig.
func (h *hosts) within(pos, n int) bool {
	k := sort.SearchInts(h.start, pos+1)
	return k == len(h.start) || pos+n <= h.start[k]
}

// shortSeed is how long the k-mers are, but for one base, of which a sequence of n bases has two or so by chance.
func shortSeed(n int) int { return max(bits.Len(uint(n))/2, 5) }
