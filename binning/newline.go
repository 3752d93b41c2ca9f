package binning

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// indexNewline returns the index of the first '\n' in b, or -1. It is quicker than
// bytes.IndexByte where lines are shorter than eight bytes, and hardly slower where they are not.
func indexNewline(b []byte) int {
	if len(b) >= 8 {
		if n := newlineIn8(b); n < 8 {
			return n
		}
	}
	return bytes.IndexByte(b, '\n')
}

// newlineIn8 returns the index of the first '\n' in the first eight bytes of b, 8 if there is none.
func newlineIn8(b []byte) int {
	// A byte of x is 0 where b has '\n'. The lowest of the bits left is that of the first such byte.
	x := binary.LittleEndian.Uint64(b) ^ 0x0a0a0a0a0a0a0a0a
	return bits.TrailingZeros64((x-0x0101010101010101)&^x&0x8080808080808080) / 8
}
