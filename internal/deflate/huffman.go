package deflate

import "slices"

// Huffman makes Huffman codes. Symbols are merged in the order of their counts, those of one count in their own order, and before nodes
// of the same weight.
type Huffman struct {
	// Leaves are the symbols that occur, ascending by count and symbol: count<<10 | symbol.
	Leaves []uint64
	// Depths are those of the inner nodes from the root on, which has 0, downwards.
	Depths  []int
	weights []uint64
	parents []int
}

// Symbol returns the symbol of a leaf.
func (h *Huffman) Symbol(leaf int) int { return int(h.Leaves[leaf] & 1023) }

// Merge sets Leaves and Depths. Each of up to 2^10 symbols has a count.
func (h *Huffman) Merge(counts []uint32) {
	h.Leaves, h.weights, h.parents = h.Leaves[:0], h.weights[:0], h.parents[:0]
	for s, n := range counts {
		if n > 0 {
			h.Leaves = append(h.Leaves, uint64(n)<<10|uint64(s))
		}
	}
	slices.Sort(h.Leaves)
	leaf := 0
	take := func() uint64 {
		if node := len(h.parents); leaf == len(h.Leaves) || node < len(h.weights) && h.Leaves[leaf]>>10 > h.weights[node] {
			h.parents = append(h.parents, len(h.weights))
			return h.weights[node]
		}
		leaf++
		return h.Leaves[leaf-1] >> 10
	}
	n := len(h.Leaves) - 1
	for range n {
		weight := take()
		h.weights = append(h.weights, weight+take())
	}
	// Those that were made last come first, and each behind its parent.
	h.Depths = append(h.Depths[:0], 0)
	for i := n - 2; i >= 0; i-- {
		h.Depths = append(h.Depths, h.Depths[n-1-h.parents[i]]+1)
	}
}

// Deal sets the length of each symbol that occurs, given how many have each length: the rarest have the greatest.
func (h *Huffman) Deal(lengths []uint8, numbers []int) {
	at := 0
	for n := len(numbers) - 1; n > 0; n-- {
		for range numbers[n] {
			lengths[h.Symbol(at)] = uint8(n)
			at++
		}
	}
}
