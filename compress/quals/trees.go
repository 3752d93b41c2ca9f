package quals

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"orcomgo/bins/parse"
	"orcomgo/compress/rangecoder"
)

// trees is the alphabet of a column and, for each previous symbol, the Huffman tree
// of binary decisions between the next symbols (Huffman, "A method for the
// construction of minimum-redundancy codes", 1952). Likely symbols are near the root, so
// a symbol takes about two decisions. A symbol that does not follow has no leaf; if only one symbol
// follows it takes no decision.
type trees struct {
	values []byte     // ascending; a symbol is an index here
	rank   [256]uint8 // the symbol of a value

	root  []int16    // by previous symbol: 0, or ^symbol where only that follows
	child [][2]int16 // at previous symbol << nodeBits | node, by bit: another node, or ^symbol
	paths []uint64   // by previous symbol * len(values) + symbol: the bits on the way, the first one lowest. Encoding only
}

// path returns the bits of value v after symbol last.
func (t *trees) path(last uint32, v byte) uint64 {
	return t.paths[int(last)*len(t.values)+int(t.rank[v])]
}

// nodeBits returns log2 of the number of nodes for which one tree has room.
func (t *trees) nodeBits() uint { return uint(bits.Len(uint(len(t.values) - 2))) }

// rowsOf returns how many trees a column of total bytes and n values has: one for each previous symbol, or one for all if it is short,
// since a tree for each takes about n*n/3 bytes.
func rowsOf(n, total int) int {
	if total < 256*n*n {
		return 1
	}
	return n
}

// valuesOf returns the values of the column, ascending.
func valuesOf(quals []byte) (values []byte) {
	var seen [256]bool
	for _, q := range quals {
		seen[q] = true
	}
	for v, is := range seen {
		if is {
			values = append(values, byte(v))
		}
	}
	return values
}

// newTrees returns the trees of a column that has these values, and their coded form. All levels are at least `least`.
func newTrees(in *Input, values []byte, least uint32) (*trees, []byte) {
	t := &trees{values: values}
	for s, v := range values {
		t.rank[v] = uint8(s)
	}
	n := len(values)
	// The same pair often follows itself, and many processors take long to read a count that was just written: so there are two tables.
	var counts [2][]uint64 // at previous symbol * n + symbol
	counts[0], counts[1] = make([]uint64, n*n), make([]uint64, n*n)
	src := in.Quals
	for r := range in.Records {
		last := 0 // a read starts as if after symbol 0
		k := in.Lengths.Of(r)
		for i, q := range src[:k] {
			s := int(t.rank[q])
			counts[i&1][last+s]++
			last = s * n
		}
		src = src[k:]
	}
	all := make([]uint64, rowsOf(n, len(in.Quals))*n)
	for i := range n * n {
		all[i%len(all)] += counts[0][i] + counts[1][i]
	}
	levels := make([]uint32, len(all))
	for i, count := range all {
		levels[i] = max(levelOf(count), least)
	}
	t.build(levels)
	return t, t.append(nil, levels)
}

// append appends the coded trees: the number of values less 1, the values, the length of the coded levels, and these.
func (t *trees) append(out []byte, levels []uint32) []byte {
	out = append(out, byte(len(t.values)-1))
	out = append(out, t.values...)
	c := rangecoder.EncodeTo(nil)
	codeLevels(c, levels, len(t.values))
	part := c.Enc.Finish()
	return append(binary.AppendUvarint(out, uint64(len(part))), part...)
}

// parseTrees reads what append wrote and returns the rest of data.
func parseTrees(data []byte, total int) (*trees, []byte, error) {
	if len(data) == 0 {
		return nil, nil, ErrCorrupt
	}
	n := int(data[0]) + 1
	if data = data[1:]; n < 2 || len(data) < n {
		return nil, nil, ErrCorrupt
	}
	t := &trees{values: data[:n:n]}
	for i, v := range t.values {
		if i > 0 && v <= t.values[i-1] {
			return nil, nil, ErrCorrupt
		}
		t.rank[v] = uint8(i)
	}
	size, k := parse.Uvarint(data[n:])
	if k <= 0 || size > uint64(len(data)-n-k) {
		return nil, nil, ErrCorrupt
	}
	data = data[n+k:]
	c := rangecoder.DecodeFrom(data[:size])
	levels := make([]uint32, rowsOf(n, total)*n)
	if !codeLevels(c, levels, n) {
		return nil, nil, fmt.Errorf("%w: a frequency is out of range", ErrCorrupt)
	}
	if err := c.Dec.Err(); err != nil {
		return nil, nil, fmt.Errorf("%w: frequencies: %w", ErrCorrupt, err)
	}
	t.build(levels)
	return t, data[size:], nil
}

// levelOf returns how the frequency n is coded: as level 0 for none, else 1 + twice its logarithm to base 2, rounded down.
func levelOf(n uint64) uint32 {
	if n == 0 {
		return 0
	}
	e := bits.Len64(n) - 1
	return 1 + 2*uint32(e) + uint32(n<<1>>e)&1
}

// maxLevel is the largest level that a stream may hold.
const maxLevel = 100

// frequencyOf returns about the frequency of a level, in halves.
func frequencyOf(level uint32) uint64 {
	if level == 0 {
		return 0
	}
	return (2 + uint64(level-1)&1) << ((level - 1) >> 1)
}

const (
	levelBits  = 7  // of a coded level
	levelLimit = 30 // of its probabilities
)

// codeLevels codes levels, in rows of n. Each is a symbol of a tree, chosen by the levels to the left and above. Decoding stops at a level
// above maxLevel, and codeLevels returns false.
func codeLevels(c *rangecoder.Coder, levels []uint32, n int) bool {
	var models [16]rangecoder.Tree
	for i := range models {
		models[i] = rangecoder.NewTree(levelBits)
	}
	for i, v := range levels {
		var left, up uint32
		if i%n > 0 {
			left = levels[i-1]
		}
		if i >= n {
			up = levels[i-n]
		}
		levels[i] = models[min(left, 3)<<2|min(up>>2, 3)].Code(c, v, levelLimit)
		if levels[i] > maxLevel {
			return false
		}
	}
	return true
}

// build makes the trees from rows of levels: one for each previous symbol, or one for all.
func (t *trees) build(levels []uint32) {
	n := len(t.values)
	t.root = make([]int16, n)
	t.child = make([][2]int16, n<<t.nodeBits()+256)
	t.paths = make([]uint64, n*n)
	for p := range n {
		t.buildTree(p, levels[p*n%len(levels):][:n])
	}
}

// buildTree makes the tree of the symbols that follow p.
func (t *trees) buildTree(p int, levels []uint32) {
	type node struct {
		weight uint64
		child  [2]int // inner nodes, or ^symbol
	}
	var nodes []node // inner nodes, by rising weight
	type item struct {
		weight uint64
		id     int
	}
	var leaves []item // falling weight, ties with the larger symbol last
	for s, level := range levels {
		if level > 0 {
			leaves = append(leaves, item{frequencyOf(level), ^s})
		}
	}
	if len(leaves) == 0 {
		t.root[p] = int16(^p) // p is only at the end of reads; no symbol follows it
		return
	}
	slices.SortStableFunc(leaves, func(a, b item) int {
		if a.weight > b.weight {
			return -1
		}
		if a.weight < b.weight {
			return 1
		}
		return 0
	})
	// Two queues: the leaves left, the lightest last, and the inner nodes without a parent, which
	// are made in the order of rising weight. Of equal weights the leaf is taken.
	withParent := 0
	lightest := func() item {
		if k := len(leaves); k > 0 && (withParent == len(nodes) || leaves[k-1].weight <= nodes[withParent].weight) {
			x := leaves[k-1]
			leaves = leaves[:k-1]
			return x
		}
		withParent++
		return item{nodes[withParent-1].weight, withParent - 1}
	}
	for last := len(leaves) - 1; last > 0; last-- {
		a, b := lightest(), lightest()
		nodes = append(nodes, node{a.weight + b.weight, [2]int{b.id, a.id}})
	}
	if len(nodes) == 0 {
		t.root[p] = int16(leaves[0].id)
		return
	}
	// Nodes are numbered from the root down, so that those used most share a cache line.
	last := len(nodes) - 1
	type way struct { // to a node
		bits  uint64
		depth int
	}
	ways := make([]way, len(nodes))
	for i := last; i >= 0; i-- {
		for bit, c := range nodes[i].child {
			w := way{ways[i].bits | uint64(bit)<<(ways[i].depth&63), ways[i].depth + 1}
			if c >= 0 {
				ways[c] = w
				t.child[p<<t.nodeBits()|last-i][bit] = int16(last - c)
				continue
			}
			t.child[p<<t.nodeBits()|last-i][bit] = int16(c)
			t.paths[p*len(t.values)+^c] = w.bits
		}
	}
}
