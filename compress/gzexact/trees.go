package gzexact

import "slices"

// counts are how often each symbol occurs in a block.
type counts struct {
	literals [literalCodes]uint32 // endOfBlock once
	dists    [distCodes]uint32
	items    [itemCodes]uint32
}

// count counts the symbols of the tokens of a block.
func (c *counts) count(tokens []token) {
	*c = counts{}
	for _, t := range tokens {
		if t.isMatch() {
			c.literals[endOfBlock+1+int(lengthSymbols[t.value()])]++
			c.dists[distSymbol(t.dist())]++
		} else {
			c.literals[t.value()]++
		}
	}
	c.literals[endOfBlock] = 1
}

// A codeBuilder makes the lengths of a prefix code from the counts of symbols. No length is above limit.
type codeBuilder interface {
	build(counts []uint32, limit int, lengths []uint8)
}

// zlibTree builds the codes of zlib and gzip: a Huffman tree by a binary heap. Among nodes of one weight the one with the lower subtree comes
// first.
type zlibTree struct {
	heap    []int16
	weights [2 * literalCodes]uint32
	heights [2 * literalCodes]uint8
	parents [2 * literalCodes]int16
	taken   []int16 // nodes in the order in which they got parents; the root last
	depths  [2 * literalCodes]uint8
}

func (t *zlibTree) build(counts []uint32, limit int, lengths []uint8) {
	clear(lengths)
	t.heap, t.taken = t.heap[:0], t.taken[:0]
	add := func(symbol int, weight uint32) {
		t.heap = append(t.heap, int16(symbol))
		t.weights[symbol], t.heights[symbol] = weight, 0
	}
	last := -1
	for s, n := range counts {
		if n > 0 {
			last = s
			add(s, n)
		}
	}
	for len(t.heap) < 2 { // a code has two symbols at least
		if last < 2 {
			last++
			add(last, 1)
		} else {
			add(0, 1)
		}
	}
	for i := len(t.heap)/2 - 1; i >= 0; i-- {
		t.sink(i)
	}
	node := int16(len(counts))
	for len(t.heap) > 1 {
		a := t.heap[0]
		end := len(t.heap) - 1
		t.heap[0] = t.heap[end]
		t.heap = t.heap[:end]
		t.sink(0)
		b := t.heap[0]
		t.taken = append(t.taken, a, b)
		t.weights[node] = t.weights[a] + t.weights[b]
		t.heights[node] = max(t.heights[a], t.heights[b]) + 1
		t.parents[a], t.parents[b] = node, node
		t.heap[0] = node
		t.sink(0)
		node++
	}
	t.limitDepths(t.heap[0], len(counts), limit)
	for _, n := range t.taken {
		if int(n) < len(counts) {
			lengths[n] = t.depths[n]
		}
	}
}

// before reports whether node a comes before node b.
func (t *zlibTree) before(a, b int16) bool {
	return t.weights[a] < t.weights[b] || t.weights[a] == t.weights[b] && t.heights[a] <= t.heights[b]
}

// sink moves a node of the heap down to where it belongs.
func (t *zlibTree) sink(at int) {
	node := t.heap[at]
	for {
		child := 2*at + 1
		if child >= len(t.heap) {
			break
		}
		if child+1 < len(t.heap) && t.before(t.heap[child+1], t.heap[child]) {
			child++
		}
		if t.before(node, t.heap[child]) {
			break
		}
		t.heap[at] = t.heap[child]
		at = child
	}
	t.heap[at] = node
}

// limitDepths computes the depths of all nodes but at most limit, and mends the tree where that cut it off: leaves one after another go down
// beside one from the limit. Then the depths are dealt to the leaves, the greatest to those that were taken first.
func (t *zlibTree) limitDepths(root int16, symbols, limit int) {
	var leaves [maxCodeBits + 2]int
	t.depths[root] = 0
	excess := 0
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
	next := 0
	for depth := limit; depth > 0; depth-- {
		for leaves[depth] > 0 {
			n := t.taken[next]
			next++
			if int(n) < symbols {
				t.depths[n] = uint8(depth)
				leaves[depth]--
			}
		}
	}
}

// appendItems appends the runs of lengths of one code, or of both in a row, as zlib makes them: a run goes on after 7 or 6 equal lengths, or
// 138 zeros, as a new one.
func appendItems(items []item, lengths []uint8) []item {
	for len(lengths) > 0 {
		v := lengths[0]
		run := 1
		for run < len(lengths) && lengths[run] == v {
			run++
		}
		lengths = lengths[run:]
		for fresh := true; run > 0; fresh = false {
			most, least := 6, 3
			switch {
			case v == 0:
				most = 138
			case fresh:
				most, least = 7, 4
			}
			n := min(run, most)
			run -= n
			if n >= least && v != 0 && fresh {
				items = append(items, item(v))
				n--
				least--
			}
			items = appendRun(items, v, n, n >= least)
		}
	}
	return items
}

// appendRun appends n equal lengths: a single item, or that many if they can't be a run.
func appendRun(items []item, v uint8, n int, isRun bool) []item {
	switch {
	case !isRun:
		for range n {
			items = append(items, item(v))
		}
		return items
	case v != 0:
		return append(items, repeatLast|item(n-3)<<8)
	case n <= 10:
		return append(items, repeatZero|item(n-3)<<8)
	}
	return append(items, repeatZeros|item(n-11)<<8)
}

// used returns how many of lengths are to be written: up to the last one that is not 0, and at least least.
func used(lengths []uint8, least int) int {
	n := len(lengths)
	for n > least && lengths[n-1] == 0 {
		n--
	}
	return n
}

// setItemLengths makes the code of the items.
func (c *codes) setItemLengths(builder codeBuilder, n *[itemCodes]uint32) {
	*n = [itemCodes]uint32{}
	for _, it := range c.items {
		n[it.symbol()]++
	}
	builder.build(n[:], 7, c.itemLengths[:])
	c.itemCount = itemCodes
	for c.itemCount > 4 && c.itemLengths[itemOrder[c.itemCount-1]] == 0 {
		c.itemCount--
	}
}

// sizes returns how many bits the tokens take by the codes and by the static ones, without the three bits of the kind, and sets none of them.
func (c *codes) sizes(n *counts) (dynamic, static int) {
	dynamic = 5 + 5 + 4 + 3*c.itemCount
	for s, k := range n.items {
		dynamic += int(k) * (int(c.itemLengths[s]) + itemExtra(s))
	}
	for s, k := range n.literals {
		extra := 0
		if s > endOfBlock {
			extra = int(lengthExtra[s-endOfBlock-1])
		}
		length := 0
		if s < c.literals {
			length = int(c.lengths[s])
		}
		dynamic += int(k) * (length + extra)
		static += int(k) * (int(staticLiterals[s]) + extra)
	}
	dists := c.distLengths()
	for s, k := range n.dists {
		length := 0
		if s < len(dists) {
			length = int(dists[s])
		}
		dynamic += int(k) * (length + distExtra(s))
		static += int(k) * (5 + distExtra(s))
	}
	return dynamic, static
}

// equal reports whether two blocks have the same codes, written alike.
func (c *codes) equal(d *codes) bool {
	return c.literals == d.literals && c.dists == d.dists && c.itemCount == d.itemCount && c.itemLengths == d.itemLengths &&
		slices.Equal(c.items, d.items)
}
