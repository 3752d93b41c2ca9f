package twobit

import (
	"encoding/binary"

	"orcomgo/bases"
)

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
	if to&3 == from&3 && n >= 4*bases.PerWord && (&dst[0] != &src[0] || to-from >= n+leastDistance) {
		head := -to & 3
		put(dst, to, bases.Word(src, from))
		bytes := (n - head + 3) / 4
		copy(dst[(to+head)/4:][:bytes], src[(from+head)/4:][:bytes])
		return
	}
	for ; n > 0; n -= bases.PerWord {
		put(dst, to, bases.Word(src, from))
		to, from = to+bases.PerWord, from+bases.PerWord
	}
}

// copyReverse copies the n bases before base `end` of p to base `to`, reversed and complemented. Up to 31 bases after them get any value.
func copyReverse(p []byte, to, end, n int) {
	for ; n >= bases.PerWord; n -= bases.PerWord {
		end -= bases.PerWord
		put(p, to, bases.ReverseComplement(bases.Word(p, end), bases.PerWord))
		to += bases.PerWord
	}
	if n == 0 {
		return
	}
	put(p, to, bases.ReverseComplement(bases.Word(p, end-n), n))
}
