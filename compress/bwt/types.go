package bwt

import "math/bits"

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
func newTypes(m *Transformer, t *codedText, text []byte, threads int) *types {
	n, shift := len(text), bits.Len(uint(t.size-1))
	ty := &types{size: t.size, shift: shift, stars: reuse(&m.stars, n/64+1), ofL: make([]uint32, t.size), ofS: make([]uint32, t.size),
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
	parallel(last, threads, func(i int) { counts[i] = ty.classify(text, &t.number, shares[i], shares[i+1], smaller[i+1]) })
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

// classify sets the bits of the stars from .. to-1; smaller is whether the suffix at to is of type S. For each pair of symbols it returns
// how many suffixes begin with it and, in the higher 32 bits, how many of these are stars, or of type S if the symbols are the same.
func (ty *types) classify(text []byte, number *[256]uint8, from, to int, smaller bool) []uint64 {
	counts := make([]uint64, 1<<(2*ty.shift))
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
		if p--; p < from {
			return counts
		}
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
	return counts
}
