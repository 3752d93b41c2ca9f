package seqs

import (
	"encoding/binary"

	"orcomgo/bases"
)

// toLetters replaces the codes of bases, which are below 4, by their letters.
func toLetters(b []byte) {
	const each = 0x0101010101010101
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		lo, hi := x&each, x>>1&each
		binary.LittleEndian.PutUint64(b, 'A'*each+lo*('C'-'A')+hi*('G'-'A')+lo&hi*('T'-'C'-'G'+'A'))
	}
	for i, v := range b {
		b[i] = bases.Letters[v&3]
	}
}

// stretch is bases of the pseudogenome: base i is number at+i of packed ones, which bases.Pad bytes follow.
type stretch struct {
	packed []byte
	at     int
}

// word returns bases 32*k to 32*k+31, the first one in the lowest bits.
func (s stretch) word(k int) uint64 { return bases.Word(s.packed, s.at+bases.PerWord*k) }

// base returns base i.
func (s stretch) base(i int) byte { return bases.At(s.packed, s.at+i) }

// letters writes the letters of the first len(dst) bases to dst, reversed and complemented if reversed is set.
func (s stretch) letters(dst []byte, reversed bool) {
	for k := 0; len(dst) > 0; k++ {
		w := s.word(k)
		n := min(len(dst), bases.PerWord)
		to := dst[:n]
		if reversed {
			w = bases.ReverseComplement(w, n)
			to, dst = dst[len(dst)-n:], dst[:len(dst)-n]
		} else {
			dst = dst[n:]
		}
		if n == bases.PerWord {
			bases.PutLetters(to, w)
			continue
		}
		var part [bases.PerWord]byte // what follows belongs to another read
		bases.PutLetters(part[:], w)
		copy(to, part[:])
	}
}
