package twobit

import (
	"encoding/binary"
	"math/bits"
)

// wordBases is how many bases a word has.
const wordBases = 32

// word returns the 32 bases from base i on, the first one in the lowest bits. p has 9 bytes from that of base i on.
func word(p []byte, i int) uint64 {
	b := p[i>>2:][:9]
	shift := uint(i&3) * 2
	return binary.LittleEndian.Uint64(b)>>shift | uint64(b[8])<<(64-shift)
}

// reverseComplement returns the 32 bases of a word from the other strand.
func reverseComplement(w uint64) uint64 {
	w = bits.ReverseBytes64(w)
	w = w>>4&0x0f0f0f0f0f0f0f0f | w&0x0f0f0f0f0f0f0f0f<<4
	w = w>>2&0x3333333333333333 | w&0x3333333333333333<<2
	return ^w
}

// put writes n bases from base i on, of up to 32 in w. Up to 31 bases after them get any value; those before are kept. p has 9 bytes from
// that of base i on.
func put(p []byte, i int, w uint64) {
	b := p[i>>2:][:9]
	shift := uint(i&3) * 2
	kept := binary.LittleEndian.Uint64(b) & (1<<shift - 1)
	binary.LittleEndian.PutUint64(b, w<<shift|kept)
	b[8] = byte(w >> (64 - shift)) // of nothing, if shift is 0
}

// copyForward copies n bases of src, from base `from` on, to base `to` of dst. Up to 31 bases after them get any value. src may be dst
// if there are at least leastDistance bases between the two places.
func copyForward(dst []byte, to int, src []byte, from, n int) {
	if to&3 == from&3 && n >= 4*wordBases && (&dst[0] != &src[0] || to-from >= n+leastDistance) {
		head := -to & 3
		put(dst, to, word(src, from))
		bytes := (n - head + 3) / 4
		copy(dst[(to+head)/4:][:bytes], src[(from+head)/4:][:bytes])
		return
	}
	for ; n > 0; n -= wordBases {
		put(dst, to, word(src, from))
		to, from = to+wordBases, from+wordBases
	}
}

// copyReverse copies the n bases before base `end` of p to base `to`, reversed and complemented. Up to 31 bases after them get any value.
func copyReverse(p []byte, to, end, n int) {
	for ; n >= wordBases; n -= wordBases {
		end -= wordBases
		put(p, to, reverseComplement(word(p, end)))
		to += wordBases
	}
	if n == 0 {
		return
	}
	// The bases before the last ones of p's first word are none.
	w := word(p, end-n) << (2 * (wordBases - uint(n)))
	put(p, to, reverseComplement(w))
}

// fillA writes n As from base `to` on. Up to 31 bases after them get any value.
func fillA(p []byte, to, n int) {
	for ; n > 0; n -= wordBases {
		put(p, to, 0)
		to += wordBases
	}
}
