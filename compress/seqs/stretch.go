package seqs

import (
	"encoding/binary"

	"orcomgo/compress/overlap"
)

// letters are the bases by their codes.
const letters = "ACGT"

// toLetters replaces the codes of bases, which are below 4, by their letters.
func toLetters(b []byte) {
	const each = 0x0101010101010101
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		lo, hi := x&each, x>>1&each
		binary.LittleEndian.PutUint64(b, 'A'*each+lo*('C'-'A')+hi*('G'-'A')+lo&hi*('T'-'C'-'G'+'A'))
	}
	for i, v := range b {
		b[i] = letters[v&3]
	}
}

// stretch is bases of the pseudogenome: base i is number at+i of packed ones, two bits each, which 16 unused bytes follow.
type stretch struct {
	packed []byte
	at     int
}

// word returns bases 32*k to 32*k+31, the first one in the lowest bits.
func (s stretch) word(k int) uint64 { return overlap.LoadWord(s.packed, s.at+overlap.WordBases*k) }

// base returns base i.
func (s stretch) base(i int) byte {
	i += s.at
	return s.packed[i>>2] >> (2 * (i & 3)) & 3
}

// lettersOfByte holds the letters of the four bases of a byte, the first one lowest.
var lettersOfByte = func() (t [256]uint32) {
	for b := range t {
		for i := range 4 {
			t[b] |= uint32(letters[b>>(2*i)&3]) << (8 * i)
		}
	}
	return
}()

// wordLetters writes the letters of the 32 bases of a word to dst.
func wordLetters(dst []byte, w uint64) {
	dst = dst[:overlap.WordBases]
	for i := 0; i < overlap.WordBases; i, w = i+8, w>>16 {
		binary.LittleEndian.PutUint64(dst[i:], uint64(lettersOfByte[byte(w)])|uint64(lettersOfByte[byte(w>>8)])<<32)
	}
}

// letters writes the letters of the first len(dst) bases to dst, reversed and complemented if reversed is set.
func (s stretch) letters(dst []byte, reversed bool) {
	for k := 0; len(dst) > 0; k++ {
		w := s.word(k)
		n := min(len(dst), overlap.WordBases)
		to := dst[:n]
		if reversed {
			w = overlap.ReverseComplementWord(w, n)
			to, dst = dst[len(dst)-n:], dst[:len(dst)-n]
		} else {
			dst = dst[n:]
		}
		if n == overlap.WordBases {
			wordLetters(to, w)
			continue
		}
		var part [overlap.WordBases]byte // what follows belongs to another read
		wordLetters(part[:], w)
		copy(to, part[:])
	}
}
