package quals

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

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

	root      []int16    // by previous symbol: 0, or ^symbol where only that follows
	child     [][2]int16 // at previous symbol << nodeBits | node, by bit: another node, or ^symbol
	paths     []path     // by previous symbol * len(values) + symbol
	longSteps []uint16   // of paths of more than four steps: the fifth and further steps
}

// path is the decisions of a symbol: a step is node<<2 | bit<<1, plus 1 if it is the last one.
// Few paths are longer than four steps, so the steps in use take little memory.
type path struct {
	first  [4]uint16
	long   uint32 // index of the fifth step in trees.longSteps
	length uint8
}

// step returns the i-th step of p, i < length.
func (t *trees) step(p *path, i uint8) uint16 {
	if i < 4 {
		return p.first[i]
	}
	return t.longSteps[int(p.long)+int(i)-4]
}

// nodeBits returns log2 of the number of nodes for which one tree has room.
func (t *trees) nodeBits() uint { return uint(bits.Len(uint(len(t.values) - 2))) }

// worthTrees reports whether a column of total bytes and n values has a tree for each previous
// symbol: these take about n*n/3 bytes.
func worthTrees(n, total int) bool { return total >= 256*n*n }

// counts are how often values follow each other in the reads of a column.
type counts struct {
	pairs      [256][256]uint64 // by the value before
	first, all [256]uint64      // of reads, and of all symbols
}

func countsOf(in *Input) *counts {
	c := new(counts)
	if n := len(in.Quals); n >= leastInTurn && n <= math.MaxUint32 && below128(in.Quals) {
		c.countInTurn(in)
	} else {
		c.count(in)
	}
	c.all = c.first
	for p := range c.pairs {
		for v, n := range c.pairs[p] {
			c.all[v] += n
		}
	}
	return c
}

// count sets first and pairs.
func (c *counts) count(in *Input) {
	src := in.Quals
	for r := 0; r < in.Records; r++ {
		n := in.Lengths.Of(r)
		if n == 0 {
			continue
		}
		prev := src[0]
		c.first[prev]++
		for _, q := range src[1:n] {
			c.pairs[prev][q]++
			prev = q
		}
		src = src[n:]
	}
}

// pairTables count pairs of values below 128 in turn. The same pair often follows itself, and many processors take long to read a count
// that was just written.
type pairTables [4][1 << 15]uint32 // by the two values, the first one lowest, with 8 bits

// freePairTables are pairTables of zeros.
var freePairTables = sync.Pool{New: func() any { return new(pairTables) }}

// leastInTurn is how many qualities are worth adding the tables up.
const leastInTurn = 1 << 18

// below128 reports whether all values are.
func below128(values []byte) bool {
	var all uint64
	for ; len(values) >= 8; values = values[8:] {
		all |= binary.LittleEndian.Uint64(values)
	}
	for _, v := range values {
		all |= uint64(v)
	}
	return all&0x8080808080808080 == 0
}

// countInTurn is count with pairTables. All values are below 128, and there are fewer than 2^32.
func (c *counts) countInTurn(in *Input) {
	t := freePairTables.Get().(*pairTables)
	pair := func(read []byte, i int) uint16 { return binary.LittleEndian.Uint16(read[i:]) & (1<<15 - 1) }
	src := in.Quals
	for r := 0; r < in.Records; r++ {
		n := in.Lengths.Of(r)
		if n == 0 {
			continue
		}
		read := src[:n]
		src = src[n:]
		c.first[read[0]]++
		for ; len(read) >= 5; read = read[4:] {
			t[0][pair(read, 0)]++
			t[1][pair(read, 1)]++
			t[2][pair(read, 2)]++
			t[3][pair(read, 3)]++
		}
		for ; len(read) >= 2; read = read[1:] {
			t[0][pair(read, 0)]++
		}
	}
	for i := range t[0] {
		if n := uint64(t[0][i]) + uint64(t[1][i]) + uint64(t[2][i]) + uint64(t[3][i]); n > 0 {
			c.pairs[i&255][i>>8] = n
			t[0][i], t[1][i], t[2][i], t[3][i] = 0, 0, 0, 0
		}
	}
	freePairTables.Put(t)
}

// newTrees counts the symbols of a column and returns its trees and their coded form.
func newTrees(in *Input) (*trees, []byte) { return countsOf(in).trees(len(in.Quals), 0) }

// trees returns the trees of a column of total bytes and their coded form. All levels are at least `least`.
func (c *counts) trees(total int, least uint32) (*trees, []byte) {
	t := &trees{}
	for v, n := range c.all {
		if n > 0 {
			t.rank[v] = uint8(len(t.values))
			t.values = append(t.values, byte(v))
		}
	}
	n := len(t.values)
	rows := 1
	if worthTrees(n, total) {
		rows = n
	}
	levels := make([]uint32, rows*n)
	for p := range rows {
		for s, v := range t.values {
			count := c.all[v]
			if rows > 1 {
				count = c.pairs[t.values[p]][v]
				if p == 0 {
					count += c.first[v] // a read starts as if after symbol 0
				}
			}
			levels[p*n+s] = max(levelOf(count), least)
		}
	}
	t.build(levels)
	return t, t.append(nil, levels)
}

// append appends the coded trees: the number of values less 1, the values, the length of the coded levels, and these.
func (t *trees) append(out []byte, levels []uint32) []byte {
	out = append(out, byte(len(t.values)-1))
	out = append(out, t.values...)
	c := rangecoder.EncodeTo(nil, nil)
	newLevelModel().code(c, levels, len(t.values))
	part := c.Enc.Finish()
	out = append(out, byte(len(part)), byte(len(part)>>8), byte(len(part)>>16))
	return append(out, part...)
}

// parseTrees reads what append wrote and returns the rest of data.
func parseTrees(data []byte, total int) (*trees, []byte, error) {
	if len(data) == 0 {
		return nil, nil, ErrCorrupt
	}
	n := int(data[0]) + 1
	if data = data[1:]; n < 2 || len(data) < n+3 {
		return nil, nil, ErrCorrupt
	}
	t := &trees{values: data[:n:n]}
	for i, v := range t.values {
		if i > 0 && v <= t.values[i-1] {
			return nil, nil, ErrCorrupt
		}
		t.rank[v] = uint8(i)
	}
	size := int(data[n]) | int(data[n+1])<<8 | int(data[n+2])<<16
	if data = data[n+3:]; len(data) < size {
		return nil, nil, ErrCorrupt
	}
	rows := 1
	if worthTrees(n, total) {
		rows = n
	}
	c := rangecoder.DecodeFrom(data[:size], nil)
	levels := make([]uint32, rows*n)
	if !newLevelModel().code(c, levels, n) {
		return nil, nil, fmt.Errorf("%w: a frequency is out of range", ErrCorrupt)
	}
	if err := c.Dec.Err(); err != nil {
		return nil, nil, fmt.Errorf("%w: frequencies: %w", ErrCorrupt, err)
	}
	t.build(levels)
	return t, data[size:], nil
}

// build makes the trees from rows of levels: one for each previous symbol, or one for all.
func (t *trees) build(levels []uint32) {
	n := len(t.values)
	t.root = make([]int16, n)
	t.child = make([][2]int16, n<<t.nodeBits()+256)
	t.paths = make([]path, n*n)
	for p := range n {
		if (p+1)*n <= len(levels) {
			t.buildTree(p, levels[p*n:(p+1)*n])
			continue
		}
		t.root[p] = t.root[0]
		copy(t.child[p<<t.nodeBits():], t.child[:1<<t.nodeBits()])
		copy(t.paths[p*n:], t.paths[:n])
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
	stepsTo := make([][]uint16, len(nodes))
	for i := last; i >= 0; i-- {
		for bit, c := range nodes[i].child {
			w := append(slices.Clone(stepsTo[i]), uint16((last-i)<<2|bit<<1))
			if c >= 0 {
				stepsTo[c] = w
				t.child[p<<t.nodeBits()|last-i][bit] = int16(last - c)
				continue
			}
			t.child[p<<t.nodeBits()|last-i][bit] = int16(c)
			w[len(w)-1] |= 1
			symbol := &t.paths[p*len(t.values)+^c]
			symbol.length = uint8(len(w))
			symbol.long = uint32(len(t.longSteps))
			t.longSteps = append(t.longSteps, w[copy(symbol.first[:], w):]...)
		}
	}
}
