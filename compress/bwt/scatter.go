package bwt

import "math/bits"

// chosenOf returns which of the 64 suffixes from place i on are chosen; i is a multiple of 64.
func (s *sorter) chosenOf(i int) uint64 {
	if len(s.chosen) == 1 {
		return s.chosen[0]
	}
	return s.chosen[i>>6]
}

// scatter writes the entries of the chosen suffixes from .. to-1, of which the first symbol has the bit at; from is a multiple of 64.
// places says where the next one of each bucket goes. If entries is nil, they are only counted in places.
func (s *sorter) scatter(entries []uint64, text []byte, from, to int, at uint64, places *bucketCounts) {
	t := s.t
	low, keyShift := s.low&63, (64-s.keyBits)&63
	for ; from < to; from += 64 {
		chosen, end := s.chosenOf(from), min(from+64, to)
		if t.codes == nil {
			for ; chosen != 0; chosen &= chosen - 1 {
				i := from + bits.TrailingZeros64(chosen)
				if i >= end {
					break
				}
				w := t.window(uint64(i) * t.width)
				p := &places[w>>(64-bucketBits)]
				if entries != nil {
					entries[*p] = w<<bucketBits>>keyShift<<low | uint64(i)
				}
				*p++
			}
			continue
		}
		size, number, before := t.size, &t.number, int(t.number[text[(from+t.n-1)%t.n]])
		for i, c := range text[from:end] {
			n := int(number[c])
			at += uint64(t.codes[before*size+n].length)
			before = n
			if chosen>>(i&63)&1 != 0 {
				f := &t.firsts[n&(maxSize-1)]
				w := f.bits | t.window(at)>>(f.length&63)
				p := &places[w>>(64-bucketBits)]
				if entries != nil {
					entries[*p] = w<<bucketBits>>keyShift<<low | at
				}
				*p++
			}
		}
	}
}
