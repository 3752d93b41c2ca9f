package overlap

import (
	"math/bits"

	"orcomgo/internal/largepages"
	"orcomgo/internal/tasks"
)

// kmerIndex returns the positions of a k-mer in the pseudogenome, on either strand, in ascending order and at most the first
// `most`. It holds only the k-mers whose hash (mix64 of the smaller of the k-mer and its reverse complement, as words) has no
// bit of sampleMask set.
//
// It is a hash table with linear probing, in segments. The upper bits of the hash select the segment, the bits after them are
// the key, and the key selects the slot at which the search begins. It goes on to the next slot, after the last one of the
// segment to the first, up to an empty one. K-mers with the same segment and key are taken for equal; the places that they
// lead to are compared with the read anyway.
//
// A slot is 0 if it is empty. Else it has, from the lowest bit on, 32 bits of position, one bit that is set if the reverse
// complement is the smaller word, one that is always set, and 30 bits of key.
type kmerIndex struct {
	k          int
	sampleMask uint64
	segments   [indexSegments][]uint64 // slots
}

const (
	indexSegmentBits = 8
	indexSegments    = 1 << indexSegmentBits
	indexKeyBits     = 30
)

// sampleShift returns by how much a hash is shifted so that nothing is left if no bit of sampleMask is set.
func (ix *kmerIndex) sampleShift() uint64 { return uint64(64 - bits.Len64(ix.sampleMask)) }

// find returns the segment, the key with the bit that is always set, and the first slot in the segment of a hash.
func (ix *kmerIndex) find(hash uint64) (segment int, key, slot uint64) {
	segment = int(hash >> (64 - indexSegmentBits))
	key = hash << indexSegmentBits >> (64 - indexKeyBits)
	return segment, key<<1 | 1, key * uint64(len(ix.segments[segment])) >> indexKeyBits
}

// wantedKmers says which k-mers are indexed or sampled, as others would not be looked up, by the upper bits of their hash. nil is all of
// them.
type wantedKmers struct {
	set   Subset
	shift uint
}

// newWantedKmers returns the set of k-mers that have the upper half of their hash in one of the lists, n in all.
func newWantedKmers(lists [][]uint32, n, threads int) *wantedKmers {
	const bitsForEach = 4 // 16 to 32 bits for each k-mer, so that most other k-mers are not in the set
	size := min(bits.Len(uint(n))+bitsForEach, 32)
	w := &wantedKmers{NewSubset(1 << size), uint(64 - size)}
	inParallel(threads, len(lists), 1, func(_, i, _ int) {
		for _, h := range lists[i] {
			w.set.Add(uint32(uint64(h) << 32 >> w.shift))
		}
	})
	return w
}

func (w *wantedKmers) has(hash uint64) bool { return w == nil || w.set.Has(uint32(hash>>w.shift)) }

// newKmerIndex indexes the k-mers of bases from..n-1 of pg, those that are wanted at least. k is at most 28; sampleMask is a power of two
// minus one.
func newKmerIndex(pg []byte, from, n, k int, sampleMask uint64, most int, wanted *wantedKmers, threads int) *kmerIndex {
	ix := &kmerIndex{k: k, sampleMask: sampleMask}
	count := max(n-from-k+1, 0)
	// Entries are first distributed to their segments: each segment fits in the cache, unless the sequence is very long.
	runs := make([][indexSegments][]uint64, threads)
	tasks.Each(threads, threads, func(_, t int) {
		run := &runs[t]
		lo, hi := divide(count, t, threads)
		lo, hi = from+lo, from+hi
		for i := range run {
			if wanted == nil {
				run[i] = make([]uint64, 0, (hi-lo)>>bits.Len64(sampleMask)>>indexSegmentBits*9/8+16)
			}
		}
		var found sampledBlock
		for p, size := lo, 0; p < hi; p += size {
			size = min(kmerBlock-p&3, hi-p) // the blocks after the first one begin with a byte
			hashes, places := found.sample(pg, p, size, k, ix.sampleShift(), 1)
			for i, h := range hashes {
				if wanted.has(h) {
					e := h<<indexSegmentBits>>(64-indexKeyBits)<<34 | 1<<33 | places[i]&1<<32 | places[i]>>1
					at := &run[h>>(64-indexSegmentBits)]
					*at = append(*at, e)
				}
			}
		}
	})
	// The segments are in one piece of memory, which can have large pages.
	var sizes [indexSegments]int
	total := 0
	for i := range sizes {
		for t := range runs {
			sizes[i] += 2 * len(runs[t][i])
		}
		sizes[i]++
		total += sizes[i]
	}
	memory := largepages.Make[uint64](total)
	for i, size := range sizes {
		ix.segments[i], memory = memory[:size], memory[size:]
	}
	tasks.Each(indexSegments, threads, func(_, i int) {
		for t := range runs {
			insertAll(ix.segments[i], runs[t][i], most)
			runs[t][i] = nil
		}
	})
	return ix
}

// insertAll inserts entries into a segment in the order in which they are given, and leaves out those with whose key `most`
// entries are in it already.
func insertAll(slots, entries []uint64, most int) {
	size := uint64(len(slots))
	for _, e := range entries {
		at, same := e>>34*size>>indexKeyBits, 0
		for slots[at] != 0 {
			if slots[at]>>34 == e>>34 {
				if same++; same == most {
					break
				}
			}
			if at++; at == size {
				at = 0
			}
		}
		if same < most {
			slots[at] = e
		}
	}
}
