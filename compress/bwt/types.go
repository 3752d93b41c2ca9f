package bwt

import (
	"encoding/binary"
	"math/bits"

	"orcomgo/internal/largepages"
)

// types says of the suffixes of a text which are smaller than the suffix after them (type S) and which are larger (type L), as far as
// induction needs it: where the stars are, which are those of type S that precede one of type L, and how many there are of each kind.
// Symbols are meant by their numbers, from 0 on.
type types struct {
	size  int // symbols of the alphabet
	shift int // bits of the number of a symbol

	stars     []uint64 // bit i&63 of word i>>6 is set if the suffix at i is a star
	ofL       []uint32 // of each symbol: suffixes of type L that begin with it
	ofS       []uint32 // and of type S, which have higher ranks
	pairS     []uint32 // of two symbols, x<<shift+y, x less than y: suffixes that begin with them; all are of type S
	pairStars []uint32 // stars among them
	nStars    int
}

// newTypes goes through text with several threads.
func newTypes(t *codedText, text []byte, threads int) *types {
	n, shift := len(text), bits.Len(uint(t.size-1))
	ty := &types{size: t.size, shift: shift, stars: largepages.Make[uint64](n/64 + 1), ofL: make([]uint32, t.size), ofS: make([]uint32, t.size),
		pairS: make([]uint32, 1<<(2*shift)), pairStars: make([]uint32, 1<<(2*shift))}
	shares := cutWords(n, threads)
	last := len(shares) - 1
	smaller := make([]bool, last+1) // whether the suffix at a bound is of type S; there is none at the last one
	known := make([]bool, last+1)
	parallel(last, threads, func(i int) {
		for p := shares[i]; p < shares[i+1] && !known[i]; p++ {
			if p == n-1 || text[p] != text[p+1] {
				smaller[i], known[i] = p < n-1 && text[p] < text[p+1], true
			}
		}
	})
	for i := last - 1; i >= 0; i-- {
		if !known[i] { // one symbol up to the next bound, and at that
			smaller[i] = smaller[i+1]
		}
	}
	counts := make([][]uint64, last)
	parallel(last, threads, func(i int) {
		counts[i] = make([]uint64, 1<<(2*shift))
		from, to, after := shares[i], shares[i+1], smaller[i+1]
		if whole := to &^ 63; t.width == 2 && whole < n { // most of it by words of 32 symbols
			if after = ty.classify(counts[i], text, &t.number, whole, to, after); whole > from {
				ty.classifyFours(counts[i], t.bytes, from, whole, after)
			}
			return
		}
		ty.classify(counts[i], text, &t.number, from, to, after)
	})
	for x := range ty.size {
		for y := range ty.size {
			pair := x<<shift | y
			all, marked := uint32(0), uint32(0)
			for _, c := range counts {
				all += uint32(c[pair])
				marked += uint32(c[pair] >> 32)
			}
			switch {
			case x > y:
				ty.ofL[x] += all
			case x == y:
				ty.ofS[x] += marked
				ty.ofL[x] += all - marked
			default:
				ty.ofS[x] += all
				ty.pairS[pair], ty.pairStars[pair] = all, marked
				ty.nStars += int(marked)
			}
		}
	}
	ty.ofL[t.number[text[n-1]]]++
	return ty
}

// classify sets the bits of the stars from .. to-1; smaller is whether the suffix at to is of type S. To the counts of each pair of symbols
// it adds how many suffixes begin with it and, in the higher 32 bits, how many of these are stars, or of type S if the symbols are the
// same. It returns whether the suffix at from is of type S.
func (ty *types) classify(counts []uint64, text []byte, number *[256]uint8, from, to int, smaller bool) bool {
	after := uint32(0) // 1 if the suffix after the current one is of type S
	if smaller {
		after = 1
	}
	p := to - 1
	if to == len(text) {
		after = 0 // the last suffix, which has no symbol after it, is of type L
		if p&63 == 0 {
			ty.stars[p>>6] = 0
		}
		p--
	}
	if p < from {
		return after == 1
	}
	word, next, shift := uint64(0), uint32(number[text[p+1]]), ty.shift&15
	for ; p >= from; p-- {
		c := uint32(number[text[p]])
		same := ((c ^ next) - 1) >> 31 & after
		now := (c-next)>>31 | same
		star := now &^ after
		counts[c<<shift|next] += 1 + uint64(star|same)<<32
		word |= uint64(star) << (p & 63)
		if p&63 == 0 {
			ty.stars[p>>6] = word
			word = 0
		}
		after, next = now, c
	}
	return after == 1
}

// classifyFours is classify for codes of two bits, of which a word has 32; from and to are multiples of 64, and to is less than the
// number of symbols.
func (ty *types) classifyFours(counts []uint64, codes []byte, from, to int, smaller bool) {
	const low = 0x5555555555555555 // the lower bits of symbols
	carry := uint64(0)             // 1 if the suffix after the word is of type S
	if smaller {
		carry = 1
	}
	var pairs, marked [16]uint32
	for at := to/4 - 8; at >= from/4; at -= 8 {
		w := binary.BigEndian.Uint64(codes[at:])
		next := w<<2 | uint64(codes[at+8])>>6
		x1, x0, y1, y0 := w>>1&low, w&low, next>>1&low, next&low
		same := ^((x1 ^ y1) | (x0 ^ y0)) & low
		less := ^x1&y1 | ^(x1^y1)&^x0&y0
		// Type S is the carry of an addition: less makes one, and same passes it on. The higher bits of symbols pass it on as well.
		sum, out := bits.Add64(less|same|^uint64(low), less, carry)
		after := (sum ^ (less | same) ^ less) & low
		s := less | same&after
		star := s &^ after
		carry = out
		of := [4]uint64{^(x1 | x0) & low, x0 &^ x1, x1 &^ x0, x1 & x0} // by symbol: where the first one is that
		to := [4]uint64{^(y1 | y0) & low, y0 &^ y1, y1 &^ y0, y1 & y0}
		for x := range 4 {
			pairs[x*5] += uint32(bits.OnesCount64(of[x] & same))
			marked[x*5] += uint32(bits.OnesCount64(of[x] & same & s))
			for y := range 4 {
				if x != y {
					pairs[x*4+y] += uint32(bits.OnesCount64(of[x] & to[y]))
				}
				if x < y {
					marked[x*4+y] += uint32(bits.OnesCount64(of[x] & to[y] & star))
				}
			}
		}
		// The bits of 32 symbols together, the first one lowest.
		star = (star | star>>1) & 0x3333333333333333
		star = (star | star>>2) & 0x0f0f0f0f0f0f0f0f
		star = (star | star>>4) & 0x00ff00ff00ff00ff
		star = (star | star>>8) & 0x0000ffff0000ffff
		half := uint64(bits.Reverse32(uint32(star | star>>16)))
		if at&8 != 0 {
			ty.stars[at>>4] = half << 32
		} else {
			ty.stars[at>>4] |= half
		}
	}
	for pair := range pairs {
		counts[pair] += uint64(pairs[pair]) | uint64(marked[pair])<<32
	}
}
