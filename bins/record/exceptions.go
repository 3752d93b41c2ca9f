package record

import (
	"fmt"
	"slices"
	"sort"

	"orcomgo/bins/parse"
)

// Lower is the Exception.Byte of a run of lower-case a, c, g, t.
const Lower = 0

// Exception is a run of sequence bytes of one read that are not plain A, C, G, T.
type Exception struct {
	Read  uint32 // ordinal in the block
	Start uint32 // offset in the read, input orientation
	Len   uint32 // at least 1
	Byte  byte   // every byte of the run, or Lower: the bases, in lower case
}

// ExceptionByte reports whether a byte can be that of an exception.
func ExceptionByte(b byte) bool {
	switch l := b | 0x20; {
	case b == Lower, b == '.', b == '-', b == '*':
		return true
	case l < 'a' || l > 'z':
		return false
	}
	// Bases are no exceptions, or Lower.
	switch b {
	case 'A', 'C', 'G', 'T', 'a', 'c', 'g', 't':
		return false
	}
	return true
}

// ApplyExceptions writes the exceptions of one read over its letters. The error,
// ErrCorrupt, is for a run that ends behind the read.
func ApplyExceptions(seq []byte, exceptions []Exception) error {
	for _, e := range exceptions {
		if uint64(e.Start)+uint64(e.Len) > uint64(len(seq)) {
			return fmt.Errorf("%w: an exception is outside its read", parse.ErrCorrupt)
		}
		run := seq[e.Start : e.Start+e.Len]
		if e.Byte == Lower {
			for i := range run {
				run[i] |= 0x20
			}
			continue
		}
		for i := range run {
			run[i] = e.Byte
		}
	}
	return nil
}

// ExceptionsOf returns the exceptions of records from..to-1, sharing memory.
func ExceptionsOf(exceptions []Exception, from, to uint32) []Exception {
	lo := sort.Search(len(exceptions), func(i int) bool { return exceptions[i].Read >= from })
	hi := lo + sort.Search(len(exceptions)-lo, func(i int) bool { return exceptions[lo+i].Read >= to })
	return exceptions[lo:hi]
}

// SliceExceptions returns a copy of the exceptions of records from..to-1, numbered from 0.
func SliceExceptions(exceptions []Exception, from, to uint32) []Exception {
	s := slices.Clone(ExceptionsOf(exceptions, from, to))
	for i := range s {
		s[i].Read -= from
	}
	return s
}
