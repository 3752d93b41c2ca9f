package blocksort

import (
	"slices"

	"orcomgo/compress/rangecoder"
)

const maxDepth = 15 // of a leaf of a tree

// tree is a Huffman tree of the symbols of a text. Symbols have numbers, ascending; inner nodes have numbers, 0 the root.
type tree struct {
	size    int           // symbols
	symbols [256]byte     // of each number
	number  [256]uint8    // of each symbol
	depth   [256]uint8    // by number
	code    [256]uint16   // by number: the way from the root, the first step in the highest of depth bits
	child   [256][2]int16 // of a node: another node, or ^number of a symbol
}

// newTree makes the tree of symbols that occur as often as counted.
func newTree(counts *[256]int) *tree {
	t := &tree{}
	for s, c := range counts {
		if c > 0 {
			t.symbols[t.size] = byte(s)
			t.size++
		}
	}
	weight := make([]int, t.size)
	for i := range weight {
		weight[i] = counts[t.symbols[i]]
	}
	for !t.setDepths(weight) {
		for i := range weight {
			weight[i] = weight[i]/2 + 1
		}
	}
	t.build()
	return t
}

// setDepths computes the depths of the leaves and reports whether all are at most maxDepth.
func (t *tree) setDepths(weight []int) bool {
	// Leaves ascend by weight. Inner nodes are made in the order of their weights, so the lightest two are at the heads of two queues.
	leaves := make([]int, len(weight))
	for i := range leaves {
		leaves[i] = i
	}
	slices.SortStableFunc(leaves, func(a, b int) int { return weight[a] - weight[b] })
	type inner struct{ weight, parent int }
	nodes := make([]inner, 0, len(weight))
	leafParent := make([]int, len(weight))
	leaf, node := 0, 0
	for len(nodes) < len(weight)-1 {
		sum := 0
		for range 2 {
			if node >= len(nodes) || leaf < len(leaves) && weight[leaves[leaf]] <= nodes[node].weight {
				sum += weight[leaves[leaf]]
				leafParent[leaves[leaf]] = len(nodes)
				leaf++
			} else {
				sum += nodes[node].weight
				nodes[node].parent = len(nodes)
				node++
			}
		}
		nodes = append(nodes, inner{sum, -1})
	}
	depth := make([]int, len(nodes))
	for i := len(nodes) - 2; i >= 0; i-- {
		depth[i] = depth[nodes[i].parent] + 1
	}
	for i, p := range leafParent {
		if len(nodes) == 0 {
			t.depth[i] = 0
			continue
		}
		if depth[p]+1 > maxDepth {
			return false
		}
		t.depth[i] = uint8(depth[p] + 1)
	}
	return true
}

// build makes the nodes of a tree of which size, symbols and depths are known, and reports whether the depths are those of a tree. Codes
// are canonical: leaves ascend by depth and then by symbol. Nodes are numbered as the codes reach them.
func (t *tree) build() bool {
	sum := 0
	for i := range t.size {
		t.number[t.symbols[i]] = uint8(i)
		if t.depth[i] == 0 && t.size > 1 {
			return false
		}
		sum += 1 << (maxDepth - t.depth[i])
	}
	if t.size == 0 || sum != 1<<maxDepth {
		return false
	}
	code, nodes := 0, 1
	for d := 1; d <= maxDepth; d++ {
		for i := range t.size {
			if int(t.depth[i]) != d {
				continue
			}
			t.code[i] = uint16(code >> (maxDepth - d))
			code += 1 << (maxDepth - d)
			n := 0
			for step := d - 1; step > 0; step-- {
				next := &t.child[n][t.code[i]>>step&1]
				if *next == 0 {
					*next = int16(nodes)
					nodes++
				}
				n = int(*next)
			}
			t.child[n][t.code[i]&1] = ^int16(i)
		}
	}
	return true
}

const tableLimit = 30 // of the counts of probabilities that code a tree

// transmit codes which symbols occur and their depths. Decoding, it reports whether they make a tree.
func (t *tree) transmit(c *rangecoder.Coder) bool {
	occurs := rangecoder.NewProbs(4)
	depths := rangecoder.NewTree(4)
	var present [256]bool
	for i := range t.size {
		present[t.symbols[i]] = true
	}
	context, size := 0, 0
	for s := range 256 {
		b := c.Adapt(rangecoder.BitOf(present[s]), &occurs[context], tableLimit)
		context = context<<1&3 | b
		if b == 1 {
			t.symbols[size] = byte(s)
			size++
		}
	}
	t.size = size
	if size == 0 {
		return false
	}
	if size > 1 {
		for i := range size {
			t.depth[i] = uint8(depths.Code(c, uint32(t.depth[i]), tableLimit))
		}
	}
	return !c.Decoding() || t.build()
}
