package gzexact

import (
	"slices"

	"orcomgo/internal/deflate"
)

// A codeBuilder sets the lengths of a prefix code, none above limit, by the counts of its symbols.
type codeBuilder interface {
	build(counts []uint32, limit int, lengths []uint8)
}

// plan sets the kind of a block of tokens, and its codes if it is dynamic. Runs of lengths go on from one code to the other if they are
// joint. A static block is taken unless it is larger, in units of so many bits. It returns how many bits a dynamic one has.
func (as *block) plan(tokens []token, b codeBuilder, literalLimit int, joint bool, unit int) int {
	c := &as.codes
	var literals [deflate.Literals]uint32
	var dists [deflate.Dists]uint32
	literals[endOfBlock] = 1
	for _, t := range tokens {
		if t.isMatch() {
			literals[endOfBlock+1+int(lengthSymbols[t.value()])]++
			dists[distSymbol(t.dist())]++
		} else {
			literals[t.value()]++
		}
	}
	var lit [deflate.Literals]uint8
	var dist [deflate.Dists]uint8
	b.build(literals[:], literalLimit, lit[:])
	b.build(dists[:], deflate.MaxBits, dist[:])
	c.literals, c.dists = used(lit[:], endOfBlock+1), used(dist[:], 1)
	c.lengths = deflate.CodeLengths{}
	copy(c.lengths[:], lit[:c.literals])
	copy(c.lengths[c.literals:], dist[:c.dists])
	c.write(b, joint)
	cost := func(lit, dist []uint8) int {
		return bitsOf(literals[:], lit, literalExtra) + bitsOf(dists[:], dist, deflate.DistExtra[:])
	}
	dynamic, static := c.bits+cost(lit[:], dist[:]), cost(deflate.StaticLiterals, deflate.StaticDists)
	if as.kind = dynamicBlock; (static+2)/unit <= (dynamic+2)/unit {
		as.kind = staticBlock
	}
	return dynamic
}

// literalExtra has how many further bits each symbol of the code of literals has.
var literalExtra = append(make([]uint8, endOfBlock+1), deflate.LengthExtra[:]...)

// bitsOf returns how many bits so many symbols take, given the lengths of their code.
func bitsOf(counts []uint32, lengths, extra []uint8) (bits int) {
	for s, n := range counts {
		bits += int(n) * int(lengths[s]+extra[s])
	}
	return bits
}

// write sets what is written of the codes.
func (c *codes) write(b codeBuilder, joint bool) {
	var items []item
	if joint {
		items = appendItems(items, c.lengths[:c.literals+c.dists])
	} else {
		items = appendItems(appendItems(items, c.literalLengths()), c.distLengths())
	}
	var counts [deflate.LengthCodes]uint32
	var lengths, ordered [deflate.LengthCodes]uint8
	for _, it := range items {
		counts[it.symbol]++
	}
	b.build(counts[:], 7, lengths[:])
	for i, s := range deflate.LengthOrder {
		ordered[i] = lengths[s]
	}
	n := used(ordered[:], 4)
	w := deflate.Writer{Out: c.header[:0]}
	w.Put(c.literals-257, 5)
	w.Put(c.dists-1, 5)
	w.Put(n-4, 4)
	for _, length := range ordered[:n] {
		w.Put(int(length), 3)
	}
	codes := deflate.SymbolsOf(lengths[:])
	for _, it := range items {
		w.Symbol(&codes, int(it.symbol))
		if it.symbol >= repeatLast {
			w.Put(int(it.extra), deflate.Runs[it.symbol-repeatLast].Bits)
		}
	}
	c.bits = 8*len(w.Out) + w.N
	c.header = w.Padded()
}

// used returns how many of lengths are to be written: up to the last one that is not 0, and at least least.
func used(lengths []uint8, least int) int {
	n := len(lengths)
	for n > least && lengths[n-1] == 0 {
		n--
	}
	return n
}

// An item is a length, or a run of lengths.
type item struct{ symbol, extra uint8 }

// Symbols of items that are runs: see deflate.Runs.
const (
	repeatLast = 16 + iota
	repeatZero
	repeatZeros
)

// appendItems appends lengths in runs: as many as fit into each.
func appendItems(items []item, lengths []uint8) []item {
	for at := 0; at < len(lengths); {
		v, run := lengths[at], 1
		for at+run < len(lengths) && lengths[at+run] == v {
			run++
		}
		if at += run; v != 0 {
			items = append(items, item{v, 0})
			run--
		}
		for run > 0 {
			it, n := item{v, 0}, 1
			switch {
			case run < 3:
			case v != 0:
				n = min(run, 6)
				it = item{repeatLast, uint8(n - 3)}
			case run <= 10:
				n = run
				it = item{repeatZero, uint8(n - 3)}
			default:
				n = min(run, 138)
				it = item{repeatZeros, uint8(n - 11)}
			}
			items = append(items, it)
			run -= n
		}
	}
	return items
}

// zlibTree builds the codes of zlib and gzip: a Huffman tree by a binary heap. Of nodes of one weight the one with the lower subtree comes
// first.
type zlibTree struct {
	heap    []int16
	keys    [2 * deflate.Literals]uint64 // of nodes: weight<<8 | height
	parents [2 * deflate.Literals]int16
	depths  [2 * deflate.Literals]uint8
	taken   []int16 // nodes in the order in which they got parents
}

func (t *zlibTree) build(counts []uint32, limit int, lengths []uint8) {
	t.heap, t.taken = t.heap[:0], t.taken[:0]
	last := -1
	add := func(symbol int, weight uint32) {
		t.heap = append(t.heap, int16(symbol))
		t.keys[symbol] = uint64(weight) << 8
		last = max(last, symbol)
	}
	for s, n := range counts {
		if n > 0 {
			add(s, n)
		}
	}
	for len(t.heap) < 2 { // a code has two symbols at least
		if last < 2 {
			add(last+1, 1)
		} else {
			add(0, 1)
		}
	}
	for i := len(t.heap)/2 - 1; i >= 0; i-- {
		t.sink(i)
	}
	for node := int16(len(counts)); len(t.heap) > 1; node++ {
		a, end := t.heap[0], len(t.heap)-1
		t.heap[0] = t.heap[end]
		t.heap = t.heap[:end]
		t.sink(0)
		b := t.heap[0]
		t.taken = append(t.taken, a, b)
		ka, kb := t.keys[a], t.keys[b]
		t.keys[node] = (ka>>8+kb>>8)<<8 | max(ka&255, kb&255) + 1
		t.parents[a], t.parents[b] = node, node
		t.heap[0] = node
		t.sink(0)
	}
	t.limitDepths(len(counts), limit)
	clear(lengths)
	for _, n := range t.taken {
		if int(n) < len(counts) {
			lengths[n] = t.depths[n]
		}
	}
}

// sink moves a node of the heap down to where it belongs.
func (t *zlibTree) sink(at int) {
	node := t.heap[at]
	for {
		child := 2*at + 1
		if child+1 < len(t.heap) && t.keys[t.heap[child+1]] <= t.keys[t.heap[child]] {
			child++
		}
		if child >= len(t.heap) || t.keys[node] <= t.keys[t.heap[child]] {
			break
		}
		t.heap[at] = t.heap[child]
		at = child
	}
	t.heap[at] = node
}

// limitDepths computes the depths of all nodes. Where they are above limit, they become limit, and a leaf above it becomes a node of two
// leaves for every two nodes that were too deep. Then the depths are dealt to the leaves anew, the greatest to those that were taken
// first.
func (t *zlibTree) limitDepths(symbols, limit int) {
	var leaves [deflate.MaxBits + 2]int
	excess := 0
	t.depths[t.heap[0]] = 0
	for _, n := range slices.Backward(t.taken) {
		depth := int(t.depths[t.parents[n]]) + 1
		if depth > limit {
			depth = limit
			excess++
		}
		t.depths[n] = uint8(depth)
		if int(n) < symbols {
			leaves[depth]++
		}
	}
	if excess == 0 {
		return
	}
	for ; excess > 0; excess -= 2 {
		depth := limit - 1
		for leaves[depth] == 0 {
			depth--
		}
		leaves[depth]--
		leaves[depth+1] += 2
		leaves[limit]--
	}
	depth := limit
	for _, n := range t.taken {
		if int(n) < symbols {
			for leaves[depth] == 0 {
				depth--
			}
			leaves[depth]--
			t.depths[n] = uint8(depth)
		}
	}
}

// libdeflateTree builds the codes of libdeflate.
type libdeflateTree struct {
	deflate.Huffman
	newer bool // from version 1.19 on
}

func (t *libdeflateTree) build(counts []uint32, limit int, lengths []uint8) {
	clear(lengths)
	if t.Merge(counts); len(t.Leaves) < 2 {
		for i := range t.Leaves { // a code has two symbols
			lengths[0], lengths[max(t.Symbol(i), 1)] = 1, 1
		}
		if t.newer && len(t.Leaves) == 0 { // even that of none
			lengths[0], lengths[1] = 1, 1
		}
		return
	}
	// Each node becomes two leaves of the next depth; or, of those too deep, the deepest leaf that may.
	leaves := [deflate.MaxBits + 1]int{1}
	for _, d := range t.Depths {
		depth := min(d, limit-1)
		for depth != d && leaves[depth] == 0 {
			depth--
		}
		leaves[depth]--
		leaves[depth+1] += 2
	}
	t.Deal(lengths, leaves[:])
}
