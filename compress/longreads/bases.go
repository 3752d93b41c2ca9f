package longreads

import "math/bits"

// Bases are bases packed in words: base i (0 to 3) is at bits 2*(i%32) of word i/32. Two words that are not used follow the last base, so
// that a load near the end stays inside.
type Bases []uint64

const (
	wordBases = 32
	padWords  = 2
	lowBits   = 0x5555555555555555
)

// BasesOf returns bases that are packed in words. It may write after the last one, as far as w has room.
func BasesOf(w []uint64) Bases { return append(w, make(Bases, padWords)...) }

// wordsFor returns how many words n bases take.
func wordsFor(n int) int { return (n+wordBases-1)/wordBases + padWords }

// at returns base i.
func (b Bases) at(i int) byte { return byte(b[i>>5]>>(2*uint(i&31))) & 3 }

// load returns the 32 bases from i on, the first one lowest.
func (b Bases) load(i int) uint64 {
	s := 2 * uint(i&31)
	return b[i>>5]>>s | b[i>>5+1]<<1<<(63-s)
}

// set replaces base i.
func (b Bases) set(i int, v byte) {
	s := 2 * uint(i&31)
	b[i>>5] = b[i>>5]&^(3<<s) | uint64(v&3)<<s
}

// setWord replaces the n bases, 0 to 32, from i on by those of w, the first one lowest.
func (b Bases) setWord(i int, w uint64, n int) {
	mask := ^uint64(0)
	if n < wordBases {
		mask = 1<<(2*uint(n)) - 1
	}
	s := 2 * uint(i&31)
	b[i>>5] = b[i>>5]&^(mask<<s) | w&mask<<s
	if s > 0 {
		b[i>>5+1] = b[i>>5+1]&^(mask>>(64-s)) | w&mask>>(64-s)
	}
}

// copyBases replaces bases to..to+n-1 of dst by those of src from `from` on.
func copyBases(dst Bases, to int, src Bases, from, n int) {
	for ; n > 0; to, from, n = to+wordBases, from+wordBases, n-wordBases {
		dst.setWord(to, src.load(from), min(n, wordBases))
	}
}

// reverseWord returns the reverse complement of the 32 bases of x.
func reverseWord(x uint64) uint64 {
	x = bits.ReverseBytes64(^x)
	x = x>>4&0x0f0f0f0f0f0f0f0f | x&0x0f0f0f0f0f0f0f0f<<4
	return x>>2&0x3333333333333333 | x&0x3333333333333333<<2
}

// reverseComplement writes the reverse complement of bases from..from+n-1 of src to dst from place `to` on.
func reverseComplement(dst Bases, to int, src Bases, from, n int) {
	for n > 0 {
		m := min(n, wordBases)
		dst.setWord(to, reverseWord(src.load(from+n-m))>>(2*uint(wordBases-m)), m)
		to, n = to+m, n-m
	}
}

// matchForward returns how many bases from i on of a equal those from j on of b, at most n.
func matchForward(a Bases, i int, b Bases, j, n int) int {
	for k := 0; k < n; k += wordBases {
		if x := a.load(i+k) ^ b.load(j+k); x != 0 {
			return min(n, k+bits.TrailingZeros64(x)/2)
		}
	}
	return n
}

// matchBackward returns how many bases before i of a equal those before j of b, at most n.
func matchBackward(a Bases, i int, b Bases, j, n int) int {
	k := 0
	for ; k+wordBases <= n; k += wordBases {
		if x := a.load(i-k-wordBases) ^ b.load(j-k-wordBases); x != 0 {
			return k + bits.LeadingZeros64(x)/2
		}
	}
	for ; k < n; k++ {
		if a.at(i-k-1) != b.at(j-k-1) {
			return k
		}
	}
	return n
}
