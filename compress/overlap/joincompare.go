package overlap

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// alignment is an alignment without gaps of the current contig (of its reverse complement, if reversed) with a scaffold. Its
// first base is at coordinate start. ok is false if there is no alignment.
type alignment struct {
	scaffold int32
	reversed bool
	start    int
	ok       bool
}

func (a *assembler) contains(h alignment, n int) bool {
	s := a.scaffold(h.scaffold)
	return h.start >= s.lo && h.start+n <= s.hi
}

// baseComparisons is the number of places with which all contigs together may be compared, in addition to one per base of
// contigs. Reads of a genome are compared with far fewer. Reads of low complexity or of the same repeats have several
// candidate places per base, and more the more reads there are. Most of these comparisons fail.
const baseComparisons = 1 << 20

// findAlignment returns the alignment of the contig with the longest overlap that one of its k-mers leads to, except `not`.
func (a *assembler) findAlignment(x kmer, not alignment) alignment {
	h, strand, p := x.hash, uint64(x.strand), int(x.at)
	mask := uint32(len(a.slots) - 1)
	n := len(a.forward)
	if a.comparisonsLeft <= 0 {
		return alignment{}
	}
	a.candidates = a.candidates[:0]
	for i, k := h>>a.shift, 0; a.slots[i] != 0 && k < maxProbes; i, k = (i+1)&mask, k+1 {
		if a.hashes[i] != h {
			continue
		}
		s := a.slots[i]
		id := int32(s >> (slotUsed + slotCoordBits + 1))
		slotStrand := s >> (slotUsed + slotCoordBits) & 1
		coord := int(s>>slotUsed&(1<<slotCoordBits-1)) - slotCoordZero
		root, reversed, shift := id, false, 0
		if a.parents[id] >= 0 {
			root, reversed, shift = a.root(id)
		}
		if reversed {
			coord = shift - (coord + seedLen - 1)
		} else {
			coord += shift
		}
		candidate := alignment{scaffold: root, reversed: (slotStrand != strand) != reversed, ok: true}
		if candidate.reversed {
			candidate.start = coord - (n - seedLen - p)
		} else {
			candidate.start = coord - p
		}
		if candidate != not && !a.failed.has(candidate) {
			a.candidates = append(a.candidates, candidate)
		}
	}
	a.comparisonsLeft -= len(a.candidates)
	a.compared += len(a.candidates)
	if len(a.candidates) > 1 {
		a.prefetchCandidates()
	}
	var best alignment
	bestLen := 0
	for _, candidate := range a.candidates {
		l := a.compare(candidate)
		if l > bestLen {
			best, bestLen = candidate, l
		}
		if l == 0 {
			a.failed.add(candidate)
		}
	}
	return best
}

// cacheLine is the size of a cache line in bytes.
const cacheLine = 64

// prefetchCandidates prefetches the sequences with which the contig will be compared, as they are far apart in memory.
func (a *assembler) prefetchCandidates() {
	for i := range a.candidates {
		s := a.scaffold(a.candidates[i].scaffold)
		prefetch(unsafe.Pointer(s), unsafe.Pointer(&s.reads))
	}
	for i := range a.candidates {
		h := &a.candidates[i]
		s := a.scaffold(h.scaffold)
		lo, hi := max(h.start, s.lo), min(h.start+len(a.forward), s.hi)
		if lo < hi {
			prefetch(unsafe.Pointer(&s.buf[s.origin+lo]), unsafe.Pointer(&s.buf[s.origin+min(lo+cacheLine, hi-1)]))
		}
	}
}

// failedAlignments is a cache of the alignments of the current contig that have too many mismatches, as several of its k-mers
// can lead to the same alignment. A new entry may replace an older one, which is then compared again.
type failedAlignments struct {
	entries [256]uint64 // 0 if empty
	any     bool
}

func (f *failedAlignments) entry(h alignment) (e *uint64, key uint64) {
	key = uint64(h.scaffold)<<(slotCoordBits+2) | uint64(h.start+slotCoordZero)<<2 | 1
	if h.reversed {
		key |= 2
	}
	return &f.entries[key*0x9e3779b97f4a7c15>>56], key
}

func (f *failedAlignments) has(h alignment) bool {
	e, key := f.entry(h)
	return *e == key
}

func (f *failedAlignments) add(h alignment) {
	e, key := f.entry(h)
	*e, f.any = key, true
}

func (f *failedAlignments) reset() {
	if f.any {
		clear(f.entries[:])
		f.any = false
	}
}

// compare compares the contig with the scaffold where they overlap. It returns the length of the overlap in bases, or 0 if it
// is shorter than seedLen or has too many mismatches.
func (a *assembler) compare(h alignment) int {
	s := a.scaffold(h.scaffold)
	seq := a.forward
	if h.reversed {
		seq = a.reverse
	}
	lo, hi := max(h.start, s.lo), min(h.start+len(seq), s.hi)
	if hi-lo < seedLen {
		return 0
	}
	if !withinMismatches(s.buf[s.origin+lo:s.origin+hi], seq[lo-h.start:hi-h.start], (hi-lo)/16+1) {
		return 0
	}
	return hi - lo
}

// withinMismatches reports whether x and y, of equal length, one base per byte, differ in at most limit bases.
func withinMismatches(x, y []byte, limit int) bool {
	for len(x) >= 8 && len(y) >= 8 {
		d := binary.LittleEndian.Uint64(x) ^ binary.LittleEndian.Uint64(y)
		if limit -= bits.OnesCount64((d | d>>1) & 0x0101010101010101); limit < 0 {
			return false
		}
		x, y = x[8:], y[8:]
	}
	for i, c := range x {
		if y[i] != c {
			limit--
		}
	}
	return limit >= 0
}
