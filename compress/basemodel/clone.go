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
	grown := slotBits(m.at+n) > int(64-m.match.shift)
	var c *Model
	if !grown {
		c = m.clones.take()
	}
	words := historyWords(m.at + n)
	if c == nil {
		c = new(Model)
		c.mix.nodes, c.hist.words = anyNodes(), largepages.Make[uint64](words+n/4/32)
		if !grown {
			c.origin, c.match.slots = m, largepages.Make[uint32](len(m.match.slots))
		}
		c.copyTables(m)
	} else if len(c.hist.words) < words {
		c.hist.grow(words + n/4/32)
	}
	slots := c.match.slots
	c.at, c.h, c.r, c.match, c.slot, c.word = m.at, m.h, m.r, m.match, m.slot, m.word
	c.match.slots, c.mix.weights = slots, c.mix.weights[:0]
	for range qualityClasses {
		c.mix.weights = append(c.mix.weights, m.mix.weights...)
	}
	if grown {
		c.match.grow(&m.hist, m.at, n)
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

// copyTables copies the tables of nodes, k-mers and bases.
func (m *Model) copyTables(from *Model) {
	copy(m.mix.nodes, from.mix.nodes)
	copy(m.match.slots, from.match.slots)
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
	nodes := m.mix.nodes
	m.mix.nodes = nil
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
	return len(m.mix.nodes)*int(unsafe.Sizeof(node{})) + 4*len(m.match.slots) + 8*len(m.hist.words)
}

// undoShare: a clone that has coded at most one base for so many slots of the table of k-mers takes back what these have changed; else all
// tables are copied.
const undoShare = 32

// undo makes the tables of a clone what those of its origin are.
func (m *Model) undo() {
	o := m.origin
	n := m.at - o.at
	m.at = o.at
	if n > len(m.match.slots)/undoShare {
		m.copyTables(o)
		return
	}
	// The nodes of contexts of few bases and of matches are few.
	copy(m.mix.nodes[:nodes9], o.mix.nodes)
	copy(m.mix.nodes[nodesMatch:], o.mix.nodes[nodesMatch:])
	own, learnt := m.mix.nodes[nodes9:nodesMatch], o.mix.nodes[nodes9:nodesMatch]
	const mask = 1<<18 - 1
	for _, p := range o.match.pending {
		m.match.slots[p.slot] = o.match.slots[p.slot]
	}
	h, r := o.h, o.r
	for i := range n {
		k, strand := h&mask, r>>(2*(registerBases-strandLag-9))&mask
		own[k], own[strand] = learnt[k], learnt[strand]
		h, r = shiftIn(h, r, byte(m.hist.at(o.at+i)))
		slot := m.match.candidate(h, r).slot
		m.match.slots[slot] = o.match.slots[slot]
	}
	m.hist.undo(&o.hist, o.at, n)
}
