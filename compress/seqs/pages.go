package seqs

import (
	"math/bits"
	"unsafe"

	rc "orcomgo/compress/rangecoder"
	"orcomgo/internal/prefetch"
)

// A page holds four levels of a tree of positions, a node and the nodes below it, as the parts of 65536 points that the sixteen nodes
// below all these have: where each begins, in order. So a position takes few steps and few cache lines, where one of a large tree would
// take a line a level.
type page [16]uint16

const pageLevels = 4

// pages are the nodes of a tree from which positions are coded.
type pages struct {
	depth int
	all   []page       // the first one is below leaves
	below []pagesBelow // by page
}

// pagesBelow are the pages below one.
type pagesBelow struct {
	first uint32 // the number of the first one; the others follow
	some  uint32 // a bit for each of the sixteen nodes below a page, which is set if it has a page
}

// newPages returns the pages of a tree.
func newPages(t *splits) *pages {
	m := &pages{depth: t.depth, all: make([]page, 2), below: make([]pagesBelow, 2)}
	type root struct{ page, node uint32 }
	const none = ^uint32(0) // below a leaf
	stack := []root{{0, none}, {1, 0}}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		m.below[at.page].first = uint32(len(m.all))
		// The nodes of the page, whose first is node at.node of the tree.
		nodes := [32]uint32{1: at.node}
		width := [32]uint32{1: 1 << rc.ProbBits} // how many points a node has
		for k := uint32(1); k < 16; k++ {
			nodes[2*k], nodes[2*k+1] = none, none
			p := uint32(1 << (rc.ProbBits - 1))
			if nodes[k] != none && t.split[nodes[k]] != 0 {
				p = uint32(t.split[nodes[k]])
				nodes[2*k], nodes[2*k+1] = t.index[nodes[k]], t.index[nodes[k]]+1
			}
			least := uint32(16) >> bits.Len32(k) // a point for each of the sixteen
			width[2*k+1] = min(max(width[k]*p>>rc.ProbBits, least), width[k]-least)
			width[2*k] = width[k] - width[2*k+1]
		}
		for k := 1; k < 16; k++ {
			m.all[at.page][k] = m.all[at.page][k-1] + uint16(width[15+k])
		}
		for k, node := range nodes[16:] {
			if node != none && t.split[node] != 0 {
				m.below[at.page].some |= 1 << k
				stack = append(stack, root{uint32(len(m.all)), node})
				m.all, m.below = append(m.all, page{}), append(m.below, pagesBelow{})
			}
		}
	}
	return m
}

// next returns the page of node k below a page, 0 to 15.
func (m *pages) next(p, k uint32) uint32 {
	b := m.below[p]
	q := b.first + uint32(bits.OnesCount32(b.some&(1<<(k&15)-1)))
	return q & -(b.some >> (k & 15) & 1)
}

// sideBySide is how many positions are coded side by side, each in a lane, which is a stream of its own.
const sideBySide = 8

// code codes so many positions below 2^depth, the j-th one by lane j. It takes a page of each in turn: the processor codes one while it
// waits for others, and for the pages of others.
func (m *pages) code(lanes []*rc.Coder, all []uint32) {
	var at [sideBySide]uint32
	for j := range all {
		at[j] = 1
		all[j] <<= 32 - m.depth // decoding, all of it is shifted out
	}
	rest := -m.depth & (pageLevels - 1) // levels of the last page that are not coded
	for left := m.depth; left > 0; left -= pageLevels {
		step := uint32(1)
		if left < pageLevels {
			step <<= rest
		}
		for j, pos := range all {
			k := lanes[j].Sixteen(pos>>28, step, (*[16]uint16)(&m.all[at[j]]))
			all[j] = pos<<pageLevels | k
			if left > pageLevels {
				at[j] = m.next(at[j], k)
				prefetch.Line(unsafe.Pointer(&m.all[at[j]]))
				prefetch.Line(unsafe.Pointer(&m.below[at[j]]))
			}
		}
	}
	for j := range all {
		all[j] >>= rest
	}
}

// codePlaced codes those of all that are not unplaced, by the lanes in turn.
func (m *pages) codePlaced(lanes []*rc.Coder, all []uint32) {
	var which [sideBySide]int
	var pos [sideBySide]uint32
	n := 0
	for i, p := range all {
		if p != unplaced {
			which[n], pos[n] = i, p
			n++
		}
		if n == len(lanes) || i == len(all)-1 {
			m.code(lanes, pos[:n])
			for j := range n {
				all[which[j]] = min(pos[j], unplaced-1) // a corrupt one is outside of the pseudogenome
			}
			n = 0
		}
	}
}

// codeOne codes a position below 2^depth.
func (m *pages) codeOne(c *rc.Coder, pos uint32) uint32 {
	all := [1]uint32{pos}
	m.code([]*rc.Coder{c}, all[:])
	return all[0]
}
