package bases

import (
	"encoding/binary"
	"slices"
)

// Letters are the letters of the bases.
const Letters = "ACGT"

// NoBase is the code of a letter that is no base.
const NoBase = 4

// codes has the codes of letters.
var codes = func() (t [256]byte) {
	for i := range t {
		t[i] = NoBase
	}
	for c, letter := range []byte(Letters) {
		t[letter], t[letter|0x20] = byte(c), byte(c)
	}
	return t
}()

// Code returns the base of a letter in either case, or NoBase.
func Code(letter byte) byte { return codes[letter] }

// Pack8 returns the bases of eight letters, and a word that is 0 exactly if all of them are A, C, G or T, else the bases mean nothing. The
// first letter is in the lowest byte, and its base in the lowest bits.
func Pack8(letters uint64) (codes, nonACGT uint64) {
	const ones = 0x0101010101010101
	// Bits 2 and 1 of A, C, G and T are 00, 01, 11 and 10.
	b1, b2 := letters>>1&ones, letters>>2&ones
	// The letter with these two bits is 0x41 with them set, but T is 0x54.
	t := b2 &^ b1
	nonACGT = letters ^ (0x41*ones | letters&(0x06*ones) ^ t ^ t<<4)
	c := b2<<1 | b1 ^ b2
	c = (c | c>>6) & 0x000f000f000f000f
	c = (c | c>>12) & 0x000000ff000000ff
	return (c | c>>24) & 0xffff, nonACGT
}

// fourLetters has the letters of the four bases of a packed byte, the first one in the lowest bits, and fourComplements those of the other
// strand.
var fourLetters, fourComplements = func() (forward, reverse [256]uint32) {
	for b := range forward {
		for i := range 4 {
			base := b >> (2 * i) & 3
			forward[b] |= uint32(Letters[base]) << (8 * i)
			reverse[b] |= uint32(Letters[3-base]) << (8 * (3 - i))
		}
	}
	return forward, reverse
}()

// AppendLetters appends n bases of packed bytes, which begin at packed[0], as upper-case letters, reversed and complemented if reverse is
// set.
func AppendLetters(dst, packed []byte, n int, reverse bool) []byte {
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	out := dst[at:]
	if !reverse {
		for len(out) >= 8 && len(packed) >= 2 {
			binary.LittleEndian.PutUint64(out, uint64(fourLetters[packed[0]])|uint64(fourLetters[packed[1]])<<32)
			out, packed = out[8:], packed[2:]
		}
		for i := range out {
			out[i] = byte(fourLetters[packed[i>>2]] >> (i & 3 * 8))
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

// PutLetters writes the letters of the 32 bases of a word to dst.
func PutLetters(dst []byte, w uint64) {
	dst = dst[:PerWord]
	binary.LittleEndian.PutUint64(dst, uint64(fourLetters[uint8(w)])|uint64(fourLetters[uint8(w>>8)])<<32)
	binary.LittleEndian.PutUint64(dst[8:], uint64(fourLetters[uint8(w>>16)])|uint64(fourLetters[uint8(w>>24)])<<32)
	binary.LittleEndian.PutUint64(dst[16:], uint64(fourLetters[uint8(w>>32)])|uint64(fourLetters[uint8(w>>40)])<<32)
	binary.LittleEndian.PutUint64(dst[24:], uint64(fourLetters[uint8(w>>48)])|uint64(fourLetters[uint8(w>>56)])<<32)
}
