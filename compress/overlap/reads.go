// Package overlap lays reads out on a pseudogenome. It assembles contigs in each bin, joins contigs across bins, and places
// all reads on the resulting sequence. If memory is too small for all reads of an archive at once, each step processes
// shares of the reads (ranges of signatures), one after another.
package overlap

import (
	"orcomgo/bases"
	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/internal/largepages"
)

// Reads holds reads in memory, grouped by signature as in the bins. A read has two numbers: its index i in this grouping, and
// its record, which counts the records of the loaded sources in input order, one source after another.
type Reads struct {
	packed      []byte // stored orientation, each read starts on a byte; followed by bases.Pad
	offsets     []uint64
	stride      uint64 // bytes per read; used if offsets is nil
	lengths     []uint32
	fixedLength uint32

	records        []uint32 // by index
	indexByRecord  []uint32 // by record; nil if not needed, or if reads are ordered by record
	subset         *Subset  // the loaded records, if reads are ordered by record and not all are loaded
	signaturePlace []uint32 // by index, as in bins.Block.Place: position of the signature << 1 | stored reversed

	groups []bins.Bin

	// exceptions are the runs of letters other than A, C, G and T in either case, in input orientation. Exception.Read is the record.
	// Reads that are ordered by record don't have them.
	exceptions record.ExceptionList
	nonACGT    []uint64 // one bit per index: the read has such letters

	placesByIndex bool // see number
}

// allocate allocates memory for the bases of n reads, whose lengths are set.
func (rd *Reads) allocate(n int) {
	if rd.lengths == nil {
		rd.stride = uint64(bases.PackedLen(int(rd.fixedLength)))
		rd.packed = largepages.Make[byte](n*int(rd.stride) + bases.Pad)
		return
	}
	rd.offsets = largepages.Make[uint64](n + 1)
	for i, l := range rd.lengths {
		rd.offsets[i+1] = rd.offsets[i] + uint64(bases.PackedLen(int(l)))
	}
	rd.packed = largepages.Make[byte](int(rd.offsets[n]) + bases.Pad)
}

// eachException calls f with the exceptions of read i by ascending position. hasNonACGT says whether there are any.
func (rd *Reads) eachException(i int, f func(e record.Exception)) {
	key := rd.records[i]
	for c := rd.exceptions.From(key); ; {
		e, ok := c.Next()
		if !ok || e.Read != key {
			return
		}
		f(e)
	}
}

// indexOf returns the index of a loaded record.
func (rd *Reads) indexOf(record uint32) int {
	switch {
	case rd.indexByRecord != nil:
		return int(rd.indexByRecord[record])
	case rd.subset != nil:
		return rd.subset.rank(record)
	}
	return int(record)
}

// number returns the number of read i in placements and in sets of reads: its record or, if placesByIndex is set, its index, by which
// they are used in their order in memory.
func (rd *Reads) number(i int) uint32 {
	if rd.placesByIndex {
		return uint32(i)
	}
	return rd.records[i]
}

// Has reports whether the read of a record is loaded.
func (rd *Reads) Has(record uint32) bool { return rd.subset == nil || rd.subset.Has(record) }

// placedEighthBytes is the memory of the place of a record and of its index, if all reads are in memory, in eighths of a byte.
const placedEighthBytes = 41 + 32

// bytes returns the memory of the reads.
func (rd *Reads) bytes() uint64 {
	return uint64(len(rd.packed)+8*len(rd.signaturePlace)+12*len(rd.lengths)) + rd.exceptions.Memory()
}

// Count returns the number of reads.
func (rd *Reads) Count() int { return len(rd.signaturePlace) }

func (rd *Reads) offset(i int) uint64 {
	if rd.offsets != nil {
		return rd.offsets[i]
	}
	return uint64(i) * rd.stride
}

// bases returns the packed bases of read i, in stored orientation, and what follows them, at least bases.Pad.
func (rd *Reads) bases(i int) []byte { return rd.packed[rd.offset(i):] }

func (rd *Reads) len(i int) int {
	if rd.lengths != nil {
		return int(rd.lengths[i])
	}
	return int(rd.fixedLength)
}

// hasNonACGT reports whether read i has letters other than A, C, G and T in either case.
func (rd *Reads) hasNonACGT(i int) bool { return rd.nonACGT[i>>6]>>(i&63)&1 != 0 }

// longestACGT returns the longest range [a, b) of read i, in stored orientation, that has only A, C, G and T.
func (rd *Reads) longestACGT(i int) (a, b int) {
	n := rd.len(i)
	if !rd.hasNonACGT(i) {
		return 0, n
	}
	at := 0
	rd.eachException(i, func(e record.Exception) {
		if int(e.Start)-at > b-a {
			a, b = at, int(e.Start)
		}
		at = int(e.Start + e.Len)
	})
	if n-at > b-a {
		a, b = at, n
	}
	if rd.signaturePlace[i]&1 != 0 {
		a, b = n-b, n-a
	}
	return a, b
}

// skipMask returns, in dst, a mask for each chunk of read i with the low bit set of each letter other than A, C, G and T, in
// stored orientation or, if reversed, the other one. It returns nil if there are no such letters.
func (rd *Reads) skipMask(dst []uint64, i int, reversed bool) []uint64 {
	if !rd.hasNonACGT(i) {
		return nil
	}
	n := rd.len(i)
	dst = dst[:0]
	for k := 0; k < n; k += bases.PerChunk {
		dst = append(dst, 0)
	}
	reverse := rd.signaturePlace[i]&1 != 0 != reversed
	rd.eachException(i, func(e record.Exception) {
		for p := int(e.Start); p < int(e.Start+e.Len); p++ {
			q := p
			if reverse {
				q = n - 1 - p
			}
			dst[q/bases.PerChunk] |= 1 << (2 * uint(q%bases.PerChunk))
		}
	})
	return dst
}
