package seqs

import "slices"

// positions models where reads stand on a pseudogenome: a binary tree over its length whose
// nodes tell how many of their reads fall in the right half. It is built from all the
// placements of a part and sent once, so that every slice knows the coverage (an expressed
// gene, an amplicon) from its first read on, and slices stay independent. Nodes of fewer reads
// than sparse are not sent: below them positions are even.
type positions struct {
	depth int      // the tree covers 2^depth bases
	split []uint16 // probability of the right half by node; 0: a leaf
	index []uint32 // node -> index of its left child in split, the right one follows
}

// sparse is how many reads a node needs to be worth the cost of telling its split.
const sparse = 24

// splitLevels returns the number of values a split of n reads is rounded to: the error of
// a proportion falls with the root of n, and so does what precision is worth.
func splitBits(n uint32) int {
	b := 3
	for n >= 4*sparse && b < 8 {
		n >>= 2
		b++
	}
	return b
}

// newPositions counts pos, each below n, and codes the tree.
func newPositions(pos []uint32, n int, c *coder) *positions {
	m := &positions{}
	for 1<<m.depth < n {
		m.depth++
	}
	var counted counts
	if c.e != nil {
		counted = countsOf(pos, n)
	}
	at := func(p int) uint32 { return counted.below(min(p, n)) }
	trees := [9]*tree{}
	for b := 3; b <= 8; b++ {
		t := newTree(b)
		trees[b] = &t
	}
	total := newNumber()
	count := uint32(0)
	if c.e != nil {
		count = at(n)
	}
	count = total.code(c, count, 255)
	m.split = append(m.split, 0)
	m.index = append(m.index, 0)
	// The reads a node is believed to hold follow from the rounded splits, in both directions alike.
	type item struct {
		node, reads uint32
		lo, size    int
	}
	// A part holds fewer than 2^32 reads, each tree level at most count/sparse nodes.
	stack := []item{{0, count, 0, 1 << m.depth}}
	for len(stack) > 0 {
		it := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if it.reads < sparse || it.size == 1 {
			continue
		}
		half := it.size / 2
		b := splitBits(it.reads)
		q := uint32(0)
		if c.e != nil {
			l, r := at(it.lo+half)-at(it.lo), at(it.lo+it.size)-at(it.lo+half)
			if l+r > 0 {
				q = min(uint32(uint64(r)<<b/uint64(l+r)), 1<<b-1)
			} else {
				q = 1 << (b - 1)
			}
		}
		q = trees[b].code(c, q, 255)
		p := min(max((q<<1|1)<<(15-b), 256), 65536-256)
		m.split[it.node] = uint16(p)
		kids := uint32(len(m.split))
		m.index[it.node] = kids
		m.split = append(m.split, 0, 0)
		m.index = append(m.index, 0, 0)
		right := uint32(uint64(it.reads) * uint64(p) >> 16)
		stack = append(stack, item{kids, it.reads - right, it.lo, half}, item{kids + 1, right, it.lo + half, half})
	}
	return m
}

// code codes a position below 2^depth.
func (m *positions) code(c *coder, pos uint32) uint32 {
	node, v := uint32(0), uint32(0)
	for i := m.depth - 1; i >= 0; i-- {
		p := uint32(m.split[node])
		if p == 0 {
			return v<<(i+1) | c.even(pos&(1<<(i+1)-1), i+1)
		}
		b := uint32(c.bit(int(pos>>i&1), p))
		v = v<<1 | b
		node = m.index[node] + b
	}
	return v
}

// counts tell how many positions are below any, by buckets of bases: of one base where there are many reads, else of more, so that
// a long pseudogenome takes less memory than its bases by themselves.
type counts struct {
	shift uint
	start []uint32 // positions below each bucket
	pos   []uint32 // by bucket
}

func countsOf(pos []uint32, n int) counts {
	s := counts{}
	if len(pos) < n/4 {
		s.shift, s.pos = 6, make([]uint32, len(pos))
	}
	s.start = make([]uint32, n>>s.shift+2)
	for _, p := range pos {
		s.start[p>>s.shift+1]++
	}
	for i := range len(s.start) - 1 {
		s.start[i+1] += s.start[i]
	}
	if s.shift == 0 {
		return s
	}
	next := slices.Clone(s.start)
	for _, p := range pos {
		b := &next[p>>s.shift]
		s.pos[*b] = p
		*b++
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
