package record

import (
	"slices"
)

// PackedLen returns how many bytes n bases take in Block.Packed.
func PackedLen(n int) int { return (n + 3) / 4 }

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
