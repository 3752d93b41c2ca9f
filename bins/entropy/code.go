package entropy

import (
	"math/bits"
	"slices"
)

// codeBuilder makes Huffman codes of at most maxLength bits.
type codeBuilder struct {
	leaves  []uint64 // count << 8 | index, ascending
	weights []uint64 // of the inner nodes, in the order in which they are made
	parents []int32  // of the inner nodes
	joined  []int32  // parents of the leaves
}

// lengths sets the code length of each index whose count is above 0, and that of the others to 0. An index that is the only
// one gets onlySymbol.
func (b *codeBuilder) lengths(dst []uint8, counts []uint32) {
	clear(dst)
	b.leaves = b.leaves[:0]
	for i, c := range counts {
		if c > 0 {
			b.leaves = append(b.leaves, uint64(c)<<8|uint64(i))
		}
	}
	switch len(b.leaves) {
	case 0:
		return
	case 1:
		dst[uint8(b.leaves[0])] = onlySymbol
		return
	}
	slices.Sort(b.leaves)
	number := b.depths()
	limit(&number)
	at := 0
	for l := maxLength; l > 0; l-- {
		for range number[l] {
			dst[uint8(b.leaves[at])] = uint8(l)
			at++
		}
	}
}

// depths returns how many leaves have each depth in the Huffman tree. Depths over maxLength count as maxLength.
func (b *codeBuilder) depths() (number [maxLength + 1]int) {
	n := len(b.leaves)
	b.weights, b.parents, b.joined = b.weights[:0], b.parents[:0], b.joined[:0]
	leaf, inner := 0, 0 // the first of each that is not joined yet
	take := func(parent int32) uint64 {
		// Of equal weights the leaf comes first.
		if leaf < n && (inner == len(b.weights) || b.leaves[leaf]>>8 <= b.weights[inner]) {
			b.joined = append(b.joined, parent)
			leaf++
			return b.leaves[leaf-1] >> 8
		}
		b.parents = append(b.parents, parent)
		inner++
		return b.weights[inner-1]
	}
	for i := range n - 1 {
		w := take(int32(i))
		b.weights = append(b.weights, w+take(int32(i)))
	}
	// The root, which is made last, has the depth 0. Depths replace parents, from the root downwards.
	depth := append(b.parents, 0)
	for i := n - 3; i >= 0; i-- {
		depth[i] = depth[depth[i]] + 1
	}
	for _, p := range b.joined {
		number[min(depth[p]+1, maxLength)]++
	}
	return number
}

// limit lengthens codes until they fit in the code space.
func limit(number *[maxLength + 1]int) {
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
	var next [maxLength + 2]int
	for _, l := range lengths {
		if l > maxLength {
			return false
		}
		next[l+1]++
	}
	// next[l] becomes the first code of length l. Length 0 is no code.
	code, used := 0, 0
	next[1] = 0
	for l := 1; l <= maxLength; l++ {
		count := next[l+1]
		used += count << (maxLength - l)
		next[l], code = code, (code+count)<<1
	}
	if used > codeSpace {
		return false
	}
	for i, l := range lengths {
		if l > 0 {
			set(i, bits.Reverse16(uint16(next[l]))>>(16-l), l)
			next[l]++
		}
	}
	return true
}
