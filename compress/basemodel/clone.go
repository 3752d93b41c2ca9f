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
	any  bool // whether there has been a clone
}

// waitingShare: released clones wait for another use if all together take at most one in so many bytes of what the process may take.
const waitingShare = 16

// Clone returns a copy of the model that has room for another n bases and is independent of m, which is not changed. Bases
// coded under the copy may have qualities; each class of these learns mixing weights of its own from here on.
func (m *Model) Clone(n int) *Model {
	grown := slotBits(m.at+n) > int(64-m.match.shift)
	if m.clones.first() && !grown && n <= len(m.match.slots)/changedShare {
		return m.cloneForFew(n)
	}
	var c *Model
	if !grown {
		c = m.clones.take(m.at)
	}
	switch {
	case c == nil:
		c = new(Model)
		c.mix.nodes = anyNodes()
		if !grown {
			c.origin, c.match.slots = m, largepages.Make[uint32](len(m.match.slots))
		}
		c.hist.words = largepages.Make[uint64](historyWords(m.at + n + n/4))
		c.copyTables(m)
	case len(c.hist.words) < historyWords(m.at+n):
		c.hist.grow(historyWords(m.at + n + n/4))
	}
	c.copyState(m)
	if grown {
		c.match.grow(&m.hist, m.at, n)
	}
	return c
}

// changedShare: the first clone of a model, for at most one base in so many slots of the table of k-mers, notes the slots that it changes
// and shares the others with the model. It takes longer to copy them than to look these up, and a sample of a group has one slice only.
const changedShare = 256

// cloneForFew is Clone for so few bases.
func (m *Model) cloneForFew(n int) *Model {
	c := new(Model)
	c.mix.nodes, c.match.slots, c.hist.words = anyNodes(), m.match.slots, make([]uint64, historyWords(m.at+n))
	copy(c.mix.nodes, m.mix.nodes)
	copy(c.hist.words, m.hist.words)
	c.copyState(m)
	c.match.changed = make(map[uint32]uint32, n)
	return c
}

// first reports whether there has been no clone before.
func (x *clones) first() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	before := x.any
	x.any = true
	return !before
}

// take returns a clone of a model that has coded so many bases, nil if none waits.
func (x *clones) take(at int) *Model {
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.free) > 0 {
		c := x.free[len(x.free)-1]
		x.free = x.free[:len(x.free)-1]
		if c.at == at {
			return c
		}
	}
	return nil
}

// copyTables copies the tables of nodes, k-mers and bases.
func (m *Model) copyTables(from *Model) {
	copy(m.mix.nodes, from.mix.nodes)
	copy(m.match.slots, from.match.slots)
	clear(m.hist.words[copy(m.hist.words, from.hist.words):])
}

// copyState copies all that from has learnt except for its tables of nodes, k-mers and bases.
func (m *Model) copyState(from *Model) {
	nodes, sets, slots, hist, block, origin := m.mix.nodes, m.mix.weights[:0], m.match.slots, m.hist, m.block, m.origin
	*m = *from
	m.mix.nodes, m.match.slots, m.hist, m.block, m.origin, m.clones = nodes, slots, hist, block, origin, new(clones)
	for range qualityClasses {
		sets = append(sets, from.mix.weights...)
	}
	m.mix.weights = sets
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
	// What was still to be learnt of the bases before the first one.
	if k := o.mix.index[orders-1] - nodes9; k <= mask {
		own[k] = learnt[k]
	}
	for _, q := range o.delayed {
		if k := q.node[orders-1-strandOrder] - nodes9; k <= mask {
			own[k] = learnt[k]
		}
	}
	for _, p := range o.match.pending {
		m.match.slots[p.slot] = o.match.slots[p.slot]
	}
	h, r := o.h, o.r
	own[h&mask] = learnt[h&mask]
	for i := range n {
		b := uint64(m.hist.at(o.at + i))
		h = h<<2 | b
		r = r>>2 | (3-b)<<(2*(registerBases-1))
		k, strand, slot := h&mask, r>>(2*(registerBases-9)), m.match.candidate(h, r).slot
		own[k], own[strand] = learnt[k], learnt[strand]
		m.match.slots[slot] = o.match.slots[slot]
	}
	m.hist.undo(&o.hist, o.at, n)
}
