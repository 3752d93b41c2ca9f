package groups

import (
	"sync/atomic"

	"orcomgo/internal/tasks"
)

// synchronousRounds is how many rounds there are at most before nodes change one after another.
const synchronousRounds = 100

// Propagate divides the nodes into groups by label propagation and returns each node's group: the least node in it.
//
// Each node begins with a label of its own. In a round, each node takes the label that its neighbours have with the largest
// sum of weights, of equal ones the smallest. All nodes look at the labels of the round before, so that the order of the nodes
// does not matter, and the result is the same for any number of threads. This is how graphs are clustered on GPUs (Kozawa,
// Amagasa, Kitagawa: GPU-Accelerated Graph Clustering via Parallel Label Propagation, CIKM 2017, DOI
// 10.1145/3132847.3132960), and, with weights by similarity, how MetaBAT 2 groups contigs (Kang et al., PeerJ 2019, DOI
// 10.7717/peerj.7359).
//
// Two nodes that change at once may exchange their labels for ever, and so may the two sides of a bipartite graph. Therefore only
// half of the nodes may change in a round, another half in each: a hash of node and round says which. If nodes still change after
// synchronousRounds rounds, they do so one after another from then on. Each change then increases the weight of all edges
// within groups, or leaves it and makes a label smaller, so this ends.
//
// Only nodes with a neighbour that changed are looked at again.
func (g *Graph) Propagate(threads int) []uint32 { return g.propagate(threads, synchronousRounds) }

// propagate is Propagate with so many synchronous rounds.
func (g *Graph) propagate(threads, rounds int) []uint32 {
	n := g.Nodes()
	p := &propagation{Graph: g, labels: make([]uint32, n), active: make([]atomic.Bool, n)}
	for v := range p.labels {
		p.labels[v] = uint32(v)
		p.active[v].Store(true)
	}
	p.tallies = make([]tally, max(threads, 1))
	for round := 0; ; round++ {
		if round == rounds {
			p.finish()
			break
		}
		if !p.round(round, threads) {
			break
		}
	}
	return leastNodes(p.labels)
}

// propagation is a run of Propagate.
type propagation struct {
	*Graph
	labels  []uint32
	active  []atomic.Bool // nodes that may want another label
	tallies []tally       // of the workers
}

// tally is a worker's memory.
type tally struct {
	sums  []uint64 // of weights, by label; 0 between nodes
	seen  []uint32 // labels with a sum
	moves []move
}

type move struct{ node, label uint32 }

// round carries out a round and reports whether there may be more to do.
func (p *propagation) round(round, threads int) bool {
	n := len(p.labels)
	var waiting atomic.Bool // a node may want to change, but not in this round
	tasks.EachWorker((n+chunk-1)/chunk, threads, func(worker int) func(int) {
		t := &p.tallies[worker]
		t.moves = t.moves[:0]
		return func(i int) {
			for v := i * chunk; v < min((i+1)*chunk, n); v++ {
				if !p.active[v].Load() {
					continue
				}
				if mix(uint64(v)<<32|uint64(round))&1 == 0 {
					waiting.Store(true)
					continue
				}
				p.active[v].Store(false)
				if label := p.wanted(t, v); label != p.labels[v] {
					t.moves = append(t.moves, move{uint32(v), label})
				}
			}
		}
	})
	moved := false
	for i := range p.tallies {
		moves := p.tallies[i].moves
		moved = moved || len(moves) > 0
		eachChunk(len(moves), threads, func(from, to int) {
			for _, m := range moves[from:to] {
				p.labels[m.node] = m.label
				p.wake(int(m.node))
			}
		})
		p.tallies[i].moves = moves[:0]
	}
	return moved || waiting.Load()
}

// wake makes the neighbours of a node active.
func (p *propagation) wake(v int) {
	for _, to := range p.neighbours(v) {
		if a := &p.active[to.node]; !a.Load() { // writing would take the cache line from other cores
			a.Store(true)
		}
	}
}

// finish lets one node after another change until none wants to.
func (p *propagation) finish() {
	for changed := true; changed; {
		changed = false
		for v := range p.labels {
			if !p.active[v].Swap(false) {
				continue
			}
			if label := p.wanted(&p.tallies[0], v); label != p.labels[v] {
				p.labels[v], changed = label, true
				p.wake(v)
			}
		}
	}
}

// wanted returns the label that a node is to have: its own if it has no neighbours.
func (p *propagation) wanted(t *tally, v int) uint32 {
	if t.sums == nil {
		t.sums = make([]uint64, len(p.labels))
	}
	t.seen = t.seen[:0]
	for _, to := range p.neighbours(v) {
		label := p.labels[to.node]
		if t.sums[label] == 0 && to.weight > 0 {
			t.seen = append(t.seen, label)
		}
		t.sums[label] += uint64(to.weight)
	}
	best, most := p.labels[v], uint64(0)
	for _, label := range t.seen {
		if sum := t.sums[label]; sum > most || sum == most && label < best {
			best, most = label, sum
		}
		t.sums[label] = 0
	}
	return best
}

// leastNodes returns for each node the least one that has the same label.
func leastNodes(labels []uint32) []uint32 {
	least := make([]uint32, len(labels))
	for v := len(labels) - 1; v >= 0; v-- {
		least[labels[v]] = uint32(v)
	}
	all := make([]uint32, len(labels))
	for v, label := range labels {
		all[v] = least[label]
	}
	return all
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014), which
// maps numbers one to one to numbers that look random.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
