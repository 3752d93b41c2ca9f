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

// newlineRoom is how many offsets findNewlines must have room for to find any.
const newlineRoom = 64

// findNewlines stores the offsets of the line ends in text, from an offset on, in dst, which has room for newlineRoom of them or
// more. It returns how many it found, and up to where; it stops early when dst may become full, but not before it has found one.
func findNewlines(dst []uint32, text []byte, from int) (found, end int) {
	if hasAVX2 && from < len(text) {
		var scanned int
		found, scanned = newlinesVector(&dst[0], len(dst), &text[from], len(text)-from, uint32(from))
		if from += scanned; found > 0 {
			return found, from
		}
	}
	for found+newlineRoom <= len(dst) && from < len(text) {
		n := indexNewline(text[from:])
		if n < 0 {
			return found, len(text)
		}
		from += n
		dst[found] = uint32(from)
		found++
		from++
	}
	return found, from
}
