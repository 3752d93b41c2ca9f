package bins

import (
	"fmt"
	"slices"

	"orcomgo/bins/record"

	"orcomgo/bins/parse"
)

// AppendSequences appends the letters of all reads of the block to dst in input order, end
// to end. It needs Lengths (or FixedLen), Order, Place, Packed and Exceptions of the whole
// block, and gives ErrCorrupt if they don't fit together.
func (b *Block) AppendSequences(dst []byte) ([]byte, error) {
	starts := make([]int, b.Records+1)
	for i := range b.Records {
		starts[i+1] = starts[i] + b.Lengths.Of(i)
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
		size := record.PackedLen(len(seq))
		if size > len(packed) {
			return dst, fmt.Errorf("%w: bases are missing", parse.ErrCorrupt)
		}
		record.AppendLetters(seq[:0], packed, len(seq), b.Place[i]&1 != 0)
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
		if err := record.ApplyExceptions(out[starts[read]:starts[read+1]], rest[:n]); err != nil {
			return dst, err
		}
		rest = rest[n:]
	}
	return dst, nil
}
