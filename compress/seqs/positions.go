package seqs

import (
	"slices"
	"sync"
	"sync/atomic"

	rc "orcomgo/compress/rangecoder"
	"orcomgo/internal/largepages"
	"orcomgo/internal/tasks"
)

// positions models the positions of reads on a pseudogenome: a binary tree over its length whose
// nodes hold the proportion of their reads that are in the right half. It is made from all
// positions of a part and coded once, so that the coverage (an expressed
// gene, an amplicon) is known from the first read of every slice on, and slices remain independent. Nodes of fewer reads
// than sparse are not coded: below them all positions are equally likely.
type positions struct {
	once   sync.Once
	splits *splits // nil once there are pages
	pages  *pages
}

// splits are the nodes of a tree in the order in which they are coded.
type splits struct {
	depth int      // the tree covers 2^depth bases
	split []uint16 // probability of the right half by node; 0: a leaf
	index []uint32 // node -> index of its left child in split, the right one follows
}

// sparse is how many reads a node must have for its split to be worth its cost.
const sparse = 24

// splitBits returns the number of bits to which the split of n reads is rounded: the error of
// a proportion falls with the square root of n, so more bits are worth their cost where n is large.
func splitBits(n uint32) int {
	b := 3
	for n >= 4*sparse && b < 8 {
		n >>= 2
		b++
	}
	return b
}

// splitSymbol is the rounded split of a node as it is coded.
type splitSymbol struct{ bits, value uint8 }

// treeCode is what is coded of a tree.
type treeCode struct {
	reads   uint32
	symbols []splitSymbol
}

// A treeNode is a node that is to be split if it has enough reads: bases lo..lo+size-1. The number of its reads is computed from the
// rounded splits above it, in encoding and decoding alike.
type treeNode struct {
	index    int
	reads    uint32
	lo, size int
}

// newTree returns a tree over n bases that has a root alone, and that.
func newTree(n int, reads uint32) (*splits, treeNode) {
	m := &splits{split: []uint16{0}, index: []uint32{0}}
	for 1<<m.depth < n {
		m.depth++
	}
	return m, treeNode{0, reads, 0, 1 << m.depth}
}

// grow splits a node and what is below it, in the order in which splits are coded. value returns the rounded split of a node, which has so
// many bits.
func (m *splits) grow(root treeNode, value func(it treeNode, bits int) uint32) {
	// A part holds fewer than 2^32 reads, each tree level at most count/sparse nodes.
	stack := []treeNode{root}
	for len(stack) > 0 {
		it := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if it.reads < sparse || it.size == 1 {
			continue
		}
		b := splitBits(it.reads)
		p := min(max((value(it, b)<<1|1)<<(15-b), 256), 65536-256)
		m.split[it.index] = uint16(p)
		kids := len(m.split)
		m.index[it.index] = uint32(kids)
		m.split = append(m.split, 0, 0)
		m.index = append(m.index, 0, 0)
		half := it.size / 2
		right := uint32(uint64(it.reads) * uint64(p) >> 16)
		stack = append(stack, treeNode{kids, it.reads - right, it.lo, half}, treeNode{kids + 1, right, it.lo + half, half})
	}
}

// newPositions makes the tree of the positions of so many records on n bases, on so many threads. place returns a record's position, which
// may be unplaced. What newPositions returns as well is yet to be coded.
func newPositions(records, n, threads int, place func(record uint32) uint32) (*positions, *treeCode) {
	counted := countsOf(records, n, threads, place)
	m, root := newTree(n, counted.below(n))
	code := &treeCode{reads: root.reads}
	m.grow(root, func(it treeNode, b int) uint32 {
		lo, middle, hi := counted.below(min(it.lo, n)), counted.below(min(it.lo+it.size/2, n)), counted.below(min(it.lo+it.size, n))
		q := uint32(1 << (b - 1))
		if hi > lo {
			q = min(uint32(uint64(hi-middle)<<b/uint64(hi-lo)), 1<<b-1)
		}
		code.symbols = append(code.symbols, splitSymbol{uint8(b), uint8(q)})
		return q
	})
	return &positions{splits: m}, code
}

// splitCoder codes the splits of a tree.
type splitCoder struct {
	total *rc.Number
	trees [9]rc.Tree // by bits
}

func newSplitCoder() *splitCoder {
	x := &splitCoder{total: rc.NewNumber()}
	for b := 3; b <= 8; b++ {
		x.trees[b] = rc.NewTree(b)
	}
	return x
}

// encode codes the tree.
func (t *treeCode) encode(c *rc.Coder) {
	x := newSplitCoder()
	x.total.Code(c, t.reads, shortMemory)
	for _, s := range t.symbols {
		x.trees[s.bits].Code(c, uint32(s.value), shortMemory)
	}
}

// decodePositions decodes a tree over n bases.
func decodePositions(n int, c *rc.Coder) *positions {
	x := newSplitCoder()
	m, root := newTree(n, x.total.Code(c, 0, shortMemory))
	m.grow(root, func(_ treeNode, b int) uint32 { return x.trees[b].Code(c, 0, shortMemory) })
	return &positions{splits: m}
}

// paged returns the pages of the tree, which are made for the first slice that has positions in no order.
func (m *positions) paged() *pages {
	m.once.Do(func() { m.pages, m.splits = newPages(m.splits), nil })
	return m.pages
}

// counts holds how many positions are below a given one, by buckets of bases. A bucket is one base where there are many reads, else
// several, so that few reads on a long pseudogenome take little memory.
type counts struct {
	shift uint
	start []uint32 // positions below each bucket
	pos   []uint32 // by bucket
}

// countedRecords is how many records a goroutine counts at a time.
const countedRecords = 1 << 14

// countsOf counts positions as newPositions takes them.
func countsOf(records, n, threads int, place func(record uint32) uint32) counts {
	s := counts{}
	switch {
	case records == 0:
		s.shift = 63 // one bucket
	case records < n/4:
		s.shift = 6
	}
	s.start = largepages.Make[uint32](n>>s.shift + 2)
	each := func(f func(pos uint32)) {
		tasks.Each((records+countedRecords-1)/countedRecords, threads, func(_, k int) {
			for record := k * countedRecords; record < min((k+1)*countedRecords, records); record++ {
				if p := place(uint32(record)); p != unplaced {
					f(p)
				}
			}
		})
	}
	each(func(p uint32) { atomic.AddUint32(&s.start[p>>s.shift+1], 1) })
	for i := range len(s.start) - 1 {
		s.start[i+1] += s.start[i]
	}
	if s.shift != 0 {
		next := slices.Clone(s.start)
		s.pos = largepages.Make[uint32](int(s.start[len(s.start)-1]))
		each(func(p uint32) { s.pos[atomic.AddUint32(&next[p>>s.shift], 1)-1] = p })
	}
	return s
}

// below returns how many positions are less than p, which is n at most.
func (s *counts) below(p int) uint32 {
	n := s.start[p>>s.shift]
	if s.shift == 0 {
		return n
	}
	for _, q := range s.pos[n:s.start[p>>s.shift+1]] {
		if int(q) < p {
			n++
		}
	}
	return n
}
