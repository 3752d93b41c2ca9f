package binning

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// indexNewline returns the index of the first '\n' in b, or -1. It is quicker than
// bytes.IndexByte where lines are shorter than eight bytes, and hardly slower where they are not.
func indexNewline(b []byte) int {
	if len(b) < 8 {
		return bytes.IndexByte(b, '\n')
	}
	// A byte of x is 0 where b has '\n'. The lowest of the bits left is that of the first such byte.
	x := binary.LittleEndian.Uint64(b) ^ 0x0a0a0a0a0a0a0a0a
	if found := (x - 0x0101010101010101) &^ x & 0x8080808080808080; found != 0 {
		return bits.TrailingZeros64(found) / 8
	}
	if n := bytes.IndexByte(b[8:], '\n'); n >= 0 {
		return n + 8
	}
	return -1
}
