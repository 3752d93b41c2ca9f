package bases

import "math/bits"

// Words are bases packed in words: base i is at bits 2*(i%32) of word i/32. wordPad words that are not used follow the last base, so that
// a load near the end stays inside of the slice.
type Words []uint64

const wordPad = 2

// WordsOf returns bases that are packed in words. It may write after the last one, as far as w has room.
func WordsOf(w []uint64) Words { return append(w, make(Words, wordPad)...) }

// WordsLen returns how many words n bases take.
func WordsLen(n int) int { return (n+PerWord-1)/PerWord + wordPad }

// Read is a read of N bases. The value of a letter other than A, C, G and T is arbitrary.
type Read struct {
	Bases Words
	N     int
}

// At returns base i.
func (b Words) At(i int) byte { return byte(b[i>>5]>>(2*uint(i&31))) & 3 }

// Load returns the 32 bases from base i on.
func (b Words) Load(i int) uint64 {
	s := 2 * uint(i&31)
	return b[i>>5]>>s | b[i>>5+1]<<1<<(63-s)
}

// Set replaces base i by v.
func (b Words) Set(i int, v byte) {
	s := 2 * uint(i&31)
	b[i>>5] = b[i>>5]&^(3<<s) | uint64(v&3)<<s
}

// SetWord replaces the n bases, 0 to 32, from base i on by those of w.
func (b Words) SetWord(i int, w uint64, n int) {
	mask := First(n)
	s := 2 * uint(i&31)
	b[i>>5] = b[i>>5]&^(mask<<s) | w&mask<<s
	if s > 0 {
		b[i>>5+1] = b[i>>5+1]&^(mask>>(64-s)) | w&mask>>(64-s)
	}
}

// Replace replaces n bases, from base `to` on, by those of src from base `from` on.
func (b Words) Replace(to int, src Words, from, n int) {
	for ; n > 0; to, from, n = to+PerWord, from+PerWord, n-PerWord {
		b.SetWord(to, src.Load(from), min(n, PerWord))
	}
}

// ReverseComplement replaces n bases, from base `to` on, by the reverse complement of those of src from base `from` on.
func (b Words) ReverseComplement(to int, src Words, from, n int) {
	for n > 0 {
		m := min(n, PerWord)
		b.SetWord(to, ReverseComplement(src.Load(from+n-m), m), m)
		to, n = to+m, n-m
	}
}

// EqualForward returns how many bases from base i on equal those of c from base j on, at most n.
func (b Words) EqualForward(i int, c Words, j, n int) int {
	for k := 0; k < n; k += PerWord {
		if x := b.Load(i+k) ^ c.Load(j+k); x != 0 {
			return min(n, k+bits.TrailingZeros64(x)/2)
		}
	}
	return n
}

// EqualBackward returns how many bases before base i equal those of c before base j, at most n.
func (b Words) EqualBackward(i int, c Words, j, n int) int {
	k := 0
	for ; k+PerWord <= n; k += PerWord {
		if x := b.Load(i-k-PerWord) ^ c.Load(j-k-PerWord); x != 0 {
			return k + bits.LeadingZeros64(x)/2
		}
	}
	for ; k < n; k++ {
		if b.At(i-k-1) != c.At(j-k-1) {
			return k
		}
	}
	return n
}
