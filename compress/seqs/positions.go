package seqs

import (
	"slices"
	"sync/atomic"

	rc "orcomgo/compress/rangecoder"
)

// positions models the positions of reads on a pseudogenome: a binary tree over its length whose
// nodes hold the proportion of their reads that are in the right half. It is made from all
// positions of a part and coded once, so that the coverage (an expressed
// gene, an amplicon) is known from the first read of every slice on, and slices remain independent. Nodes of fewer reads
// than sparse are not coded: below them all positions are equally likely.
type positions struct {
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

// newPositions counts pos, each below n, on so many threads, and codes the tree.
func newPositions(pos []uint32, n int, c *rc.Coder, threads int) *positions {
	m := &positions{}
	for 1<<m.depth < n {
		m.depth++
	}
	var counted counts
	if !c.Decoding() {
		counted = countsOf(pos, n, threads)
	}
	at := func(p int) uint32 { return counted.below(min(p, n)) }
	trees := [9]*rc.Tree{}
	for b := 3; b <= 8; b++ {
		t := rc.NewTree(b)
		trees[b] = &t
	}
	total := rc.NewNumber()
	count := uint32(0)
	if !c.Decoding() {
		count = at(n)
	}
	count = total.Code(c, count, shortMemory)
	m.split = append(m.split, 0)
	m.index = append(m.index, 0)
	// The number of reads of a node is computed from the rounded splits, in encoding and decoding alike.
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
		if !c.Decoding() {
			l, r := at(it.lo+half)-at(it.lo), at(it.lo+it.size)-at(it.lo+half)
			if l+r > 0 {
				q = min(uint32(uint64(r)<<b/uint64(l+r)), 1<<b-1)
			} else {
				q = 1 << (b - 1)
			}
		}
		q = trees[b].Code(c, q, shortMemory)
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
func (m *positions) code(c *rc.Coder, pos uint32) uint32 {
	node, v := uint32(0), uint32(0)
	for i := m.depth - 1; i >= 0; i-- {
		p := uint32(m.split[node])
		if p == 0 {
			return v<<(i+1) | c.Uniform(pos&(1<<(i+1)-1), i+1)
		}
		b := uint32(c.Bit(int(pos>>i&1), p))
		v = v<<1 | b
		node = m.index[node] + b
	}
	return v
}

// counts holds how many positions are below a given one, by buckets of bases. A bucket is one base where there are many reads, else
// several, so that few reads on a long pseudogenome take little memory.
type counts struct {
	shift uint
	start []uint32 // positions below each bucket
	pos   []uint32 // by bucket
}

// minCounted is how many positions a goroutine counts at least; a variable so that tests can have fewer.
var minCounted = 1 << 16

func countsOf(pos []uint32, n, threads int) counts {
	s := counts{}
	if len(pos) < n/4 {
		s.shift, s.pos = 6, make([]uint32, len(pos))
	}
	s.start = make([]uint32, n>>s.shift+2)
	if chunks := min(threads, len(pos)/minCounted); chunks > 1 {
		parallel(chunks, chunks, func() func(int) {
			return func(c int) {
				for _, p := range pos[len(pos)*c/chunks : len(pos)*(c+1)/chunks] {
					atomic.AddUint32(&s.start[p>>s.shift+1], 1)
				}
			}
		})
	} else {
		for _, p := range pos {
			s.start[p>>s.shift+1]++
		}
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
