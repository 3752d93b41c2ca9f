package record

import (
	"fmt"

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
		if err := ApplyException(seq, e); err != nil {
			return err
		}
	}
	return nil
}

// ApplyException writes an exception over the letters of its read. The error is as for ApplyExceptions.
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
