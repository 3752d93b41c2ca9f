package record

import (
	"encoding/binary"
	"slices"
)

// PackedLen returns how many bytes n bases take in Block.Packed.
func PackedLen(n int) int { return (n + 3) / 4 }

// FourLetters has the letters of the four bases of a packed byte, the first one in the lowest bits.
var FourLetters, fourComplements = func() (forward, reverse [256]uint32) {
	for b := range forward {
		for i := range 4 {
			base := b >> (2 * i) & 3
			forward[b] |= uint32("ACGT"[base]) << (8 * i)
			reverse[b] |= uint32("TGCA"[base]) << (8 * (3 - i))
		}
	}
	return forward, reverse
}()

// AppendLetters appends n bases of a stored read, which begins at packed[0], as upper-case
// letters, reversed and complemented if reverse is set.
func AppendLetters(dst, packed []byte, n int, reverse bool) []byte {
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	out := dst[at:]
	if !reverse {
		for len(out) >= 8 && len(packed) >= 2 {
			binary.LittleEndian.PutUint64(out, uint64(FourLetters[packed[0]])|uint64(FourLetters[packed[1]])<<32)
			out, packed = out[8:], packed[2:]
		}
		for i := range out {
			out[i] = byte(FourLetters[packed[i>>2]] >> (i & 3 * 8))
		}
		return dst
	}
	for len(out) >= 8 && len(packed) >= 2 {
		binary.LittleEndian.PutUint64(out[len(out)-8:], uint64(fourComplements[packed[1]])|uint64(fourComplements[packed[0]])<<32)
		out, packed = out[:len(out)-8], packed[2:]
	}
	for i := range out {
		out[len(out)-1-i] = byte(fourComplements[packed[i>>2]] >> ((3 - i&3) * 8))
	}
	return dst
}
