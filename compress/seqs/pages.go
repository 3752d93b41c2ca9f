package seqs

import (
	"math/bits"
	"unsafe"

	rc "orcomgo/compress/rangecoder"
	"orcomgo/internal/prefetch"
)

// A page holds the probabilities of four levels of a tree of positions, those of a node and of the nodes below it, as Steps takes
// them: of the node at 1, and of the left and the right child of node k at 2k and 2k+1. Below a leaf all are 1/2. At 0 there is a bit for
// each of the sixteen nodes below, which is set if that has a page of its own. So a position takes few cache lines, where one of a large
// tree would take one a level.
type page [16]uint16

const pageLevels = 4

// evenPage is a page below a leaf.
var evenPage = func() (p page) {
	for k := range p[1:] {
		p[k+1] = 1 << (rc.ProbBits - 1)
	}
	return
}()

// pages are the nodes of a tree from which positions are coded.
type pages struct {
	depth int
	all   []page   // the first one is an evenPage
	below []uint32 // by page: the number of the first one below it; the others follow
}

// newPages returns the pages of a tree.
func newPages(t *splits) *pages {
	m := &pages{depth: t.depth, all: []page{evenPage, evenPage}, below: make([]uint32, 2)}
	type root struct{ page, node uint32 }
	stack := []root{{1, 0}}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		m.below[at.page] = uint32(len(m.all))
		// The nodes of the page, whose first is node at.node of the tree: none below leaves.
		const none = ^uint32(0)
		nodes := [32]uint32{1: at.node}
		for k := uint32(1); k < 16; k++ {
			nodes[2*k], nodes[2*k+1] = none, none
			if nodes[k] == none || t.split[nodes[k]] == 0 {
				continue
			}
			m.all[at.page][k] = t.split[nodes[k]]
			nodes[2*k], nodes[2*k+1] = t.index[nodes[k]], t.index[nodes[k]]+1
		}
		for k, node := range nodes[16:] {
			if node != none && t.split[node] != 0 {
				m.all[at.page][0] |= 1 << k
				stack = append(stack, root{uint32(len(m.all)), node})
				m.all, m.below = append(m.all, evenPage), append(m.below, 0)
			}
		}
	}
	return m
}

// next returns the page of node k below a page, 0 to 15.
func (m *pages) next(p, k uint32) uint32 {
	mask := uint32(m.all[p][0])
	q := m.below[p] + uint32(bits.OnesCount32(mask&(1<<(k&15)-1)))
	return q & -(mask >> (k & 15) & 1)
}

// sideBySide is how many positions are coded side by side, each in a lane, which is a stream of its own.
const sideBySide = 8

// code codes so many positions below 2^depth, the j-th one by lane j. It takes a page of each in turn: the processor codes one while it
// waits for others, and for the pages of others.
func (m *pages) code(lanes []*rc.Coder, all []uint32) {
	var at [sideBySide]uint32
	for j := range all {
		at[j] = 1
		all[j] &= 1<<m.depth - 1 // decoding, it may be anything
	}
	for left := m.depth; left > 0; left -= pageLevels {
		n := min(left, pageLevels)
		low, mask := left-n, uint32(1)<<n-1
		for j, pos := range all {
			k := lanes[j].Steps(n, pos>>low, (*[16]uint16)(&m.all[at[j]]))
			all[j] = pos&^(mask<<low) | k&mask<<low
			if low > 0 {
				at[j] = m.next(at[j], k&15)
				prefetch.Line(unsafe.Pointer(&m.all[at[j]]))
			}
		}
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
				all[which[j]] = pos[j]
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
