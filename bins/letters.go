package bins

import (
	"fmt"
	"slices"
	"sort"

	"orcomgo/bins/parse"
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
			return fmt.Errorf("%w: an exception lies outside its read", parse.ErrCorrupt)
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
	starts := make([]int, b.Records+1)
	for i := range b.Records {
		starts[i+1] = starts[i] + b.Len(i)
	}
	at := len(dst)
	dst = slices.Grow(dst, starts[b.Records])[:at+starts[b.Records]]
	out := dst[at:]
	if len(b.Order) != b.Records || len(b.Place) != b.Records {
		return dst, fmt.Errorf("%w: reads are missing", parse.ErrCorrupt)
	}
	packed := b.Packed
	for i, read := range b.Order {
		if int(read) >= b.Records {
			return dst, fmt.Errorf("%w: a read has no ordinal", parse.ErrCorrupt)
		}
		seq := out[starts[read]:starts[read+1]]
		size := PackedLen(len(seq))
		if size > len(packed) {
			return dst, fmt.Errorf("%w: bases are missing", parse.ErrCorrupt)
		}
		AppendLetters(seq[:0], packed, len(seq), b.Place[i]&1 != 0)
		packed = packed[size:]
	}
	for rest := b.Exceptions; len(rest) > 0; {
		read, n := rest[0].Read, 1
		for n < len(rest) && rest[n].Read == read {
			n++
		}
		if int(read) >= b.Records {
			return dst, fmt.Errorf("%w: an exception lies outside the block", parse.ErrCorrupt)
		}
		if err := ApplyExceptions(out[starts[read]:starts[read+1]], rest[:n]); err != nil {
			return dst, err
		}
		rest = rest[n:]
	}
	return dst, nil
}
