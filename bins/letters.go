package bins

import (
	"fmt"
	"slices"
	"sort"
)

// AppendLetters appends n bases of a stored read, which begins at packed[0], as upper-case
// letters, reversed and complemented if reverse is set.
func AppendLetters(dst, packed []byte, n int, reverse bool) []byte {
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	out := dst[at:]
	if !reverse {
		for i := range out {
			out[i] = "ACGT"[packed[i>>2]>>(i&3*2)&3]
		}
		return dst
	}
	for i := range out {
		out[n-1-i] = "TGCA"[packed[i>>2]>>(i&3*2)&3]
	}
	return dst
}

// ApplyExceptions writes the exceptions of one read over its letters. The error,
// ErrCorrupt, is for a run that does not fit the read.
func ApplyExceptions(seq []byte, exceptions []Exception) error {
	for _, e := range exceptions {
		if uint64(e.Start)+uint64(e.Len) > uint64(len(seq)) {
			return fmt.Errorf("%w: an exception lies outside its read", ErrCorrupt)
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

// AppendSequences appends the letters of all reads of the block to dst in input order, end
// to end. It needs Lengths (or FixedLen), Order, Place, Packed and Exceptions of the whole
// block, and gives ErrCorrupt if they don't fit together.
func (b *Block) AppendSequences(dst []byte) ([]byte, error) {
	return b.AppendSequencesOf(dst, 0, b.Records)
}

// AppendSequencesOf is AppendSequences for records from..to-1 of the block, which it needs as a whole all the same.
func (b *Block) AppendSequencesOf(dst []byte, from, to int) ([]byte, error) {
	starts := make([]int, to-from+1)
	for i := range to - from {
		starts[i+1] = starts[i] + b.Len(from+i)
	}
	at := len(dst)
	dst = slices.Grow(dst, starts[to-from])[:at+starts[to-from]]
	out := dst[at:]
	if len(b.Order) != b.Records || len(b.Place) != b.Records {
		return dst, fmt.Errorf("%w: reads are missing", ErrCorrupt)
	}
	packed := b.Packed
	for i, read := range b.Order {
		if int(read) >= b.Records {
			return dst, fmt.Errorf("%w: a read has no ordinal", ErrCorrupt)
		}
		n := b.Len(int(read))
		size := PackedLen(n)
		if size > len(packed) {
			return dst, fmt.Errorf("%w: bases are missing", ErrCorrupt)
		}
		if k := int(read) - from; k >= 0 && k < to-from {
			AppendLetters(out[starts[k]:starts[k]:starts[k+1]], packed, n, b.Place[i]&1 != 0)
		}
		packed = packed[size:]
	}
	if n := len(b.Exceptions); n > 0 && int(b.Exceptions[n-1].Read) >= b.Records {
		return dst, fmt.Errorf("%w: an exception lies outside the block", ErrCorrupt)
	}
	for rest := ExceptionsOf(b.Exceptions, uint32(from), uint32(to)); len(rest) > 0; {
		read, n := rest[0].Read, 1
		for n < len(rest) && rest[n].Read == read {
			n++
		}
		k := int(read) - from
		if err := ApplyExceptions(out[starts[k]:starts[k+1]], rest[:n]); err != nil {
			return dst, err
		}
		rest = rest[n:]
	}
	return dst, nil
}
