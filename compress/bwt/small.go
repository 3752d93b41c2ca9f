package bwt

import (
	"cmp"
	"encoding/binary"
	"slices"
)

const (
	smallText = 5 << 10 // texts of up to so many bytes are sorted by comparing suffixes, unless they repeat too much
	smallWork = 4       // words that comparing may read beside the first ones, for each byte of the text
)

// smallSuffix is a suffix with its first eight bytes, the first one highest, and zeros after its end.
type smallSuffix struct {
	word uint64
	at   uint32
}

// small is Transform for a text of up to smallText bytes, which it takes far less memory and time for. It reports false if the text
// repeats so much that comparing suffixes takes long.
func small(dst, text []byte) (starts []uint32, ok bool) {
	n := len(text)
	padded := append(make([]byte, 0, n+8), text...)
	padded = append(padded, 0, 0, 0, 0, 0, 0, 0, 0)
	wordAt := func(i int) uint64 { return binary.BigEndian.Uint64(padded[i:]) }
	var ends [257]int // of the suffixes that begin with a smaller byte, then of those that are placed
	for _, b := range text {
		ends[int(b)+1]++
	}
	for b := range 256 {
		ends[b+1] += ends[b]
	}
	list := make([]smallSuffix, n)
	for i, b := range text {
		list[ends[b]] = smallSuffix{wordAt(i), uint32(i)}
		ends[b]++
	}
	work := smallWork * n
	compare := func(x, y smallSuffix) int {
		if x.word != y.word {
			return cmp.Compare(x.word, y.word)
		}
		i, j := int(x.at)+8, int(y.at)+8
		for ; max(i, j) <= n && work > 0; work-- {
			if a, b := wordAt(i), wordAt(j); a != b {
				return cmp.Compare(a, b)
			}
			i, j = i+8, j+8
		}
		return cmp.Compare(j, i) // one of them ends, and is less
	}
	first := 0
	for _, end := range ends[:256] {
		slices.SortFunc(list[first:end], compare)
		first = end
	}
	starts = make([]uint32, 1)
	for i, s := range list {
		if s.at == 0 {
			starts[0] = uint32(i)
			dst[i] = text[n-1]
		} else {
			dst[i] = text[s.at-1]
		}
	}
	return starts, work > 0
}
