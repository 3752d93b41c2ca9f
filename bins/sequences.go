package bins

import (
	"fmt"
	"slices"

	"orcomgo/bases"
	"orcomgo/bins/parse"
	"orcomgo/bins/record"
)

// AppendSequencesOf appends the letters of records from..to-1 of the block to dst in input order, end
// to end. It needs Lengths, Order, Place, Packed and Exceptions of the whole
// block, and returns ErrCorrupt if they are inconsistent.
func (b *Block) AppendSequencesOf(dst []byte, from, to int) ([]byte, error) {
	starts := make([]int, to-from+1)
	for i := range to - from {
		starts[i+1] = starts[i] + b.Lengths.Of(from+i)
	}
	at := len(dst)
	dst = slices.Grow(dst, starts[to-from])[:at+starts[to-from]]
	out := dst[at:]
	if len(b.Order) != b.Records || len(b.Place) != b.Records {
		return dst, fmt.Errorf("%w: reads are missing", parse.ErrCorrupt)
	}
	packed := b.Packed
	for i, read := range b.Order {
		if int(read) >= b.Records {
			return dst, fmt.Errorf("%w: a read has no ordinal", parse.ErrCorrupt)
		}
		n := b.Lengths.Of(int(read))
		size := bases.PackedLen(n)
		if size > len(packed) {
			return dst, fmt.Errorf("%w: bases are missing", parse.ErrCorrupt)
		}
		if k := int(read) - from; k >= 0 && k < to-from {
			bases.AppendLetters(out[starts[k]:starts[k]:starts[k+1]], packed, n, b.Place[i]&1 != 0)
		}
		packed = packed[size:]
	}
	if b.Exceptions.End() > uint64(b.Records) {
		return dst, fmt.Errorf("%w: an exception lies outside the block", parse.ErrCorrupt)
	}
	for c := b.Exceptions.From(uint32(from)); ; {
		e, ok := c.Next()
		if !ok || e.Read >= uint32(to) {
			return dst, nil
		}
		k := int(e.Read) - from
		if err := record.ApplyException(out[starts[k]:starts[k+1]], e); err != nil {
			return dst, err
		}
	}
}
