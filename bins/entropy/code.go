package entropy

import (
	"slices"

	"orcomgo/internal/deflate"
)

// codeBuilder makes Huffman codes of at most maxLength bits.
type codeBuilder struct{ deflate.Huffman }

// lengths sets the code length of each index whose count is above 0, and that of the others to 0. An index that is the only
// one gets onlySymbol.
func (b *codeBuilder) lengths(dst []uint8, counts []uint32) {
	clear(dst)
	if b.Merge(counts); len(b.Leaves) < 2 {
		for i := range b.Leaves {
			dst[b.Symbol(i)] = onlySymbol
		}
		return
	}
	number := [64]int{1} // of leaves of each depth: a node becomes two of the next depth
	for _, d := range b.Depths {
		number[d]--
		number[d+1] += 2
	}
	for _, n := range number[maxLength+1:] {
		number[maxLength] += n
	}
	limit(number[:maxLength+1])
	b.Deal(dst, number[:maxLength+1])
}

// limit lengthens codes until they fit in the code space.
func limit(number []int) {
	used := 0
	for l, n := range number {
		used += n << (maxLength - l)
	}
	for used > codeSpace {
		l := maxLength - 1
		for number[l] == 0 {
			l--
		}
		number[l]--
		number[l+1]++
		used -= 1 << (maxLength - 1 - l)
	}
}

// codes calls set with each index that has a code, and with the code: canonical, its first bit lowest. It reports whether
// the lengths make a code.
func codes(lengths []uint8, set func(index int, code uint16, length uint8)) bool {
	var c deflate.Code
	if slices.Max(lengths) > maxLength || !c.Init(lengths) {
		return false
	}
	c.Each(func(index, code, n int) { set(index, uint16(code), uint8(n)) })
	return true
}
