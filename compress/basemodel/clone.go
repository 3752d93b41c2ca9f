package basemodel

import (
	"runtime"
	"runtime/debug"
	"sync"
	"unsafe"

	"orcomgo/internal/largepages"
)

// clones are released clones of one model. A clone takes back what it has changed when it is released, so that the next one need not copy
// all that the model has learnt: reads without a place are a small part of most slices.
type clones struct {
	mu   sync.Mutex
	free []*Model
}

// waitingShare: released clones wait for another use if all together take at most one in so many bytes of what the process may take.
const waitingShare = 16

// Clone returns a copy of the model that has room for another n bases and is independent of m, which must not be used but for other clones
// from then on. Bases coded under the copy may have qualities; each class of these learns mixing weights of its own from here on.
func (m *Model) Clone(n int) *Model {
	grown := slotBits(m.learnt+n) > int(32-m.shift)
	var c *Model
	if !grown {
		c = m.clones.take()
	}
	words := historyWords(m.learnt + n)
	if c == nil {
		c = new(Model)
		c.nodes, c.hist.words = anyNodes(), largepages.Make[uint64](words+n/4/32)
		if grown {
			c.grow(&m.hist, m.learnt, n)
		} else {
			c.origin, c.slots, c.shift = m, largepages.Make[uint32](len(m.slots)), m.shift
		}
		c.copyTables(m)
	} else if len(c.hist.words) < words {
		c.hist.grow(words + n/4/32)
	}
	c.logging = c.origin != nil && n <= len(c.slots)/undoShare
	c.learnt, c.size, c.weights = m.learnt, m.learnt+n, c.weights[:0]
	for range qualityClasses {
		c.weights = append(c.weights, m.weights...)
	}
	return c
}

// take returns a clone that waits, nil if there is none.
func (x *clones) take() (c *Model) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.free); n > 0 {
		c, x.free = x.free[n-1], x.free[:n-1]
	}
	return c
}

// copyTables copies the tables of nodes, k-mers and bases, but for k-mers if the table has another size.
func (m *Model) copyTables(from *Model) {
	copy(m.nodes, from.nodes)
	if len(m.slots) == len(from.slots) {
		copy(m.slots, from.slots)
	}
	clear(m.hist.words[copy(m.hist.words, from.hist.words):])
}

// Release gives the memory of the model to later ones. The model must not be used afterwards.
func (m *Model) Release() {
	if o := m.origin; o != nil && o.clones.room(m.bytes()) {
		m.undo()
		o.clones.mu.Lock()
		defer o.clones.mu.Unlock()
		o.clones.free = append(o.clones.free, m)
		return
	}
	nodes := m.nodes
	m.nodes = nil
	freeNodes.Put(&nodes)
}

// room reports whether another clone of so many bytes may wait.
func (x *clones) room(bytes int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := len(x.free) + 1
	return n <= runtime.GOMAXPROCS(0) && int64(n*bytes) <= debug.SetMemoryLimit(-1)/waitingShare
}

// bytes returns how much memory the tables of the model take, in bytes.
func (m *Model) bytes() int {
	return len(m.nodes)*int(unsafe.Sizeof(node{})) + 4*len(m.slots) + 8*len(m.hist.words)
}

// undoShare: a clone that has coded at most one base for so many slots of the table of k-mers takes back what these have changed; else all
// tables are copied.
const undoShare = 32

// undo makes the tables of a clone what those of its origin are.
func (m *Model) undo() {
	o := m.origin
	n := m.size - o.learnt
	log := m.log
	m.log = log[:0]
	if !m.logging {
		m.copyTables(o)
		return
	}
	// The nodes of contexts of few bases and of matches are few.
	copy(m.nodes[:nodes8], o.nodes)
	copy(m.nodes[nodesMatch:], o.nodes[nodesMatch:])
	for k := lanesOf(n); len(log) > 0; log = log[3*k:] { // all are of one block
		for _, bases := range log[:k] {
			m.undoNodes(bases)
		}
		for _, bases := range log[k:][:k] {
			m.undoNodes(bases >> 2)
		}
		for _, slot := range log[2*k:][:k] {
			if slot != noSlot {
				m.slots[slot] = o.slots[slot]
			}
		}
	}
	m.hist.undo(&o.hist, o.learnt, n)
}

// undoNodes makes the nodes of the longest contexts what those of the origin are, by the last bases.
func (m *Model) undoNodes(bases uint32) {
	for _, at := range [...]uint32{nodes8 + bases&(1<<16-1), nodes10 + bases&(1<<20-1)} {
		m.nodes[at] = m.origin.nodes[at]
	}
}
