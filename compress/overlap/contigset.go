package overlap

import (
	"encoding/binary"
	"slices"
)

// contigSet holds contigs, each with a number of reads. A contig is known by its index.
type contigSet struct {
	packed []byte   // bases as in packed.go; each contig begins with a byte; followed by padBytes
	start  []uint64 // byte of packed with which each contig begins
	length []uint32 // bases
	reads  []uint64
	left   []uint32 // comparisons with others that the contig may still make
	bases  uint64   // sum of length
}

// contigSetBytes is the memory of a contig in a set in addition to its bases.
const contigSetBytes = 8 + 4 + 8 + 4

func (s *contigSet) count() int { return len(s.length) }

// of returns the packed bases of contig c and what follows them, at least padBytes.
func (s *contigSet) of(c uint32) []byte { return s.packed[s.start[c]:] }

// joinRange is how many contigs a goroutine processes at a time.
const joinRange = 256

// grow adds n contigs: contig i of them has the length and reads that size returns, and write writes its packed bases to dst.
func (s *contigSet) grow(n, threads int, size func(i int) (bases int, reads uint64), write func(i int, dst []byte)) {
	old := s.count()
	s.start = append(s.start, make([]uint64, n)...)
	s.length = append(s.length, make([]uint32, n)...)
	s.reads = append(s.reads, make([]uint64, n)...)
	s.left = append(s.left, make([]uint32, n)...)
	inParallel(threads, n, joinRange, func(_, from, to int) {
		for i := from; i < to; i++ {
			bases, reads := size(i)
			s.length[old+i], s.reads[old+i] = uint32(bases), reads
			s.left[old+i] = uint32(bases)/2 + 16
		}
	})
	at := uint64(max(len(s.packed), padBytes)) - padBytes
	for i := old; i < old+n; i++ {
		s.start[i] = at
		s.bases += uint64(s.length[i])
		at += uint64(s.length[i]+3) / 4
	}
	s.packed = append(s.packed, make([]byte, int(at)+padBytes-len(s.packed))...)
	inParallel(threads, n, joinRange, func(_, from, to int) {
		for i := old + from; i < old+to; i++ {
			b := s.of(uint32(i))[:(s.length[i]+3)/4]
			clear(b) // the padding of before
			write(i-old, b)
		}
	})
}

// append adds the contigs of other.
func (s *contigSet) append(other *contigSet) {
	if other.count() == 0 {
		return
	}
	at := uint64(max(len(s.packed), padBytes)) - padBytes
	s.packed = append(s.packed[:at], other.packed...)
	first := s.count()
	s.start = append(s.start, other.start...)
	for i := first; i < len(s.start); i++ {
		s.start[i] += at
	}
	s.length, s.reads = append(s.length, other.length...), append(s.reads, other.reads...)
	s.left = append(s.left, other.left...)
	s.bases += other.bases
}

// truncate leaves the first n contigs.
func (s *contigSet) truncate(n int) {
	if n >= s.count() {
		return
	}
	for _, l := range s.length[n:] {
		s.bases -= uint64(l)
	}
	s.packed = s.packed[:s.start[n]+padBytes]
	s.start, s.length, s.reads, s.left = s.start[:n], s.length[:n], s.reads[:n], s.left[:n]
}

// byRank sorts contigs, which ascend: those with more reads first, of as many that which came first.
func (s *contigSet) byRank(contigs []uint32) {
	keys := make([]uint64, 0, len(contigs)/4)
	var singles []uint32
	for _, c := range contigs {
		if s.reads[c] > 1 {
			keys = append(keys, (1<<32-1-min(s.reads[c], 1<<32-1))<<32|uint64(c))
		} else {
			singles = append(singles, c)
		}
	}
	slices.Sort(keys)
	for i, k := range keys {
		contigs[i] = uint32(k)
	}
	copy(contigs[len(keys):], singles)
}

// rank puts the contigs in the order of byRank.
func (s *contigSet) rank(threads int) {
	if slices.IsSortedFunc(s.reads, func(a, b uint64) int { return int(int64(b) - int64(a)) }) {
		return
	}
	order := make([]uint32, s.count())
	for i := range order {
		order[i] = uint32(i)
	}
	s.byRank(order)
	var sorted contigSet
	sorted.grow(len(order), threads, func(i int) (int, uint64) { return int(s.length[order[i]]), s.reads[order[i]] },
		func(i int, dst []byte) { copy(dst, s.of(order[i])) })
	for i, c := range order {
		sorted.left[i] = s.left[c]
	}
	*s = sorted
}

// copyBases copies n bases of src, from base from on, to dst, from base to on. The bases of dst there must be 0, and those in the
// same byte before them are kept.
func copyBases(dst []byte, to int, src []byte, from, n int) {
	for ; n > 0 && to&3 != 0; n-- {
		dst[to>>2] |= src[from>>2] >> (2 * uint(from&3)) & 3 << (2 * uint(to&3))
		to, from = to+1, from+1
	}
	d := dst[to>>2:]
	for ; n >= chunkBases+4; n -= chunkBases {
		binary.LittleEndian.PutUint64(d, loadChunk(src, from)) // the eighth byte is written again
		d, from = d[chunkBases/4:], from+chunkBases
	}
	for n > 0 {
		w := loadChunk(src, from) & firstBases(min(n, chunkBases))
		for m := min(n, chunkBases); m > 0; m -= 4 {
			d[0] |= byte(w)
			d, w = d[1:], w>>8
		}
		n, from = n-chunkBases, from+chunkBases
	}
}
