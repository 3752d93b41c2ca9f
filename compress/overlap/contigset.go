package overlap

import "encoding/binary"

// contigSet holds contigs, each with a number of reads. A contig is known by its index.
type contigSet struct {
	packed []byte   // bases as in packed.go; each contig begins with a byte
	start  []uint64 // byte of packed with which each contig begins
	length []uint32 // bases
	reads  []uint64
	bases  uint64 // sum of length
	skip   []uint8 // partners that agree but which the contig was not joined to
}

// contigSetBytes is the memory of a contig in a set in addition to its bases.
const contigSetBytes = 8 + 4 + 8

func (s *contigSet) count() int { return len(s.length) }

// bytes returns the memory of the set.
func (s *contigSet) bytes() uint64 { return uint64(len(s.packed)) + contigSetBytes*uint64(s.count()) }

// of returns the packed bases of contig c and what follows them, at least padBytes.
func (s *contigSet) of(c uint32) []byte { return s.packed[s.start[c]:] }

// add adds a contig of n bases of p, from base pos on. p goes on for padBytes after them.
func (s *contigSet) add(p []byte, pos, n int, reads uint64) {
	if len(s.packed) == 0 {
		s.packed = make([]byte, padBytes, 1<<16)
	}
	at := len(s.packed) - padBytes
	s.start = append(s.start, uint64(at))
	s.length = append(s.length, uint32(n))
	s.reads = append(s.reads, reads)
	s.skip = append(s.skip, 0)
	s.bases += uint64(n)
	s.packed = append(s.packed, make([]byte, (n+3)/4)...)
	copyBases(s.packed[at:], 0, p, pos, n)
}

// copyBases copies n bases of src, from base from on, to dst, from base to on. The bases of dst there must be 0, and those in the
// same byte before and after them are kept.
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
