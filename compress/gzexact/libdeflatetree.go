package gzexact

import "slices"

// libdeflateTree builds the codes of libdeflate: symbols are merged in the order of their counts, those of one count in their own order, and
// before nodes of the same weight.
type libdeflateTree struct {
	order   []uint32 // symbols that occur, by count and symbol: count<<10 | symbol
	weights []uint32
	parents []int16
}

func (t *libdeflateTree) build(counts []uint32, limit int, lengths []uint8) {
	clear(lengths)
	t.order = t.order[:0]
	for s, n := range counts {
		if n > 0 {
			t.order = append(t.order, n<<10|uint32(s))
		}
	}
	switch len(t.order) {
	case 0:
		return
	case 1: // a code has two symbols
		s := int(t.order[0] & 1023)
		lengths[0], lengths[max(s, 1)] = 1, 1
		return
	}
	slices.Sort(t.order)
	leaves := len(t.order)
	t.weights, t.parents = t.weights[:0], make([]int16, leaves-1)
	leaf, node := 0, 0
	leafParents := 0
	_ = leafParents
	take := func() (weight uint32) {
		if leaf < leaves && (node == len(t.weights) || t.order[leaf]>>10 <= t.weights[node]) {
			leaf++
			return t.order[leaf-1] >> 10
		}
		t.parents[node] = int16(len(t.weights))
		node++
		return t.weights[node-1]
	}
	for range leaves - 1 {
		w := take()
		w += take()
		t.weights = append(t.weights, w)
	}
	t.deal(limit, lengths)
}

// deal counts the leaves of each depth, going through the nodes from the root on: a node of depth d takes a leaf of that depth for two of
// the next. At the limit it takes the deepest leaf above it that there is. The most rare symbols get the greatest depths.
func (t *libdeflateTree) deal(limit int, lengths []uint8) {
	var leaves [maxCodeBits + 2]int
	leaves[1] = 2
	depths := make([]int, len(t.parents))
	for n := len(t.parents) - 2; n >= 0; n-- {
		depth := depths[t.parents[n]] + 1
		depths[n] = depth
		if depth >= limit {
			for depth = limit - 1; leaves[depth] == 0; depth-- {
			}
		}
		leaves[depth]--
		leaves[depth+1] += 2
	}
	next := 0
	for depth := limit; depth > 0; depth-- {
		for range leaves[depth] {
			lengths[t.order[next]&1023] = uint8(depth)
			next++
		}
	}
}

// libdeflateItems returns the lengths of both codes in runs, as libdeflate makes them of both in a row.
func (c *codes) libdeflateItems(items []item) []item {
	lengths := c.lengths[:c.literals+c.dists]
	for len(lengths) > 0 {
		v := lengths[0]
		run := 1
		for run < len(lengths) && lengths[run] == v {
			run++
		}
		lengths = lengths[run:]
		most, least := 6, 3
		if v == 0 {
			most = 138
		} else if run > least {
			items = append(items, item(v))
			run--
		} else {
			least = run + 1
		}
		for run >= least {
			n := min(run, most)
			items = appendRun(items, v, n, true)
			run -= n
		}
		items = appendRun(items, v, run, false)
	}
	return items
}

// zlibItems returns the lengths of both codes in runs, as zlib makes them of each.
func (c *codes) zlibItems(items []item) []item {
	return appendItems(appendItems(items, c.literalLengths()), c.distLengths())
}
