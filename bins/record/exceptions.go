package record

import (
	"fmt"
	"strings"

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

// ExceptionByte reports whether a byte can be that of an exception: a letter that is no base, one of some signs, or Lower.
func ExceptionByte(b byte) bool {
	l := b | 0x20
	return b == Lower || l >= 'a' && l <= 'z' && strings.IndexByte("acgt", l) < 0 || strings.IndexByte(".-*", b) >= 0
}

// ApplyException writes an exception over the letters of its read. The error, ErrCorrupt, is for a run that ends behind the read.
func ApplyException(seq []byte, e Exception) error {
	if uint64(e.Start)+uint64(e.Len) > uint64(len(seq)) {
		return fmt.Errorf("%w: an exception is outside its read", parse.ErrCorrupt)
	}
	run := seq[e.Start : e.Start+e.Len]
	if e.Byte == Lower {
		for i := range run {
			run[i] |= 0x20
		}
		return nil
	}
	for i := range run {
		run[i] = e.Byte
	}
	return nil
}
