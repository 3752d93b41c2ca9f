package groups

import (
	"fmt"
	"math"
	"sync/atomic"

	"orcomgo/internal/tasks"
)

// Edge joins two nodes of a graph. Edges have no direction; several between the same nodes count together.
type Edge struct {
	A, B   uint32
	Weight uint32
}

// Graph is a graph with weights. It does not change once it is made.
type Graph struct {
	// Node v has the neighbours to[first[v]:first[v+1]].
	first []uint64
	to    []neighbour
}

type neighbour struct{ node, weight uint32 }

// chunk is how many nodes or edges a worker takes at a time.
const chunk = 1 << 12

// NewGraph makes a graph of so many nodes, on so many threads. An edge to a node that is not there is an error.
func NewGraph(nodes int, edges []Edge, threads int) (*Graph, error) {
	if nodes < 0 || nodes >= math.MaxUint32 {
		return nil, fmt.Errorf("a graph of %d nodes: expected fewer than 2^32-1", nodes)
	}
	for i, e := range edges {
		if max(e.A, e.B) >= uint32(nodes) {
			return nil, fmt.Errorf("edge %d joins nodes %d and %d of %d", i, e.A, e.B, nodes)
		}
	}
	g := &Graph{first: make([]uint64, nodes+1)}
	// Where the neighbours of a node are to be written. Which worker writes first decides their order, and nothing depends on that.
	next := make([]atomic.Uint64, nodes)
	eachChunk(len(edges), threads, func(from, to int) {
		for _, e := range edges[from:to] {
			next[e.A].Add(1)
			next[e.B].Add(1)
		}
	})
	sum := uint64(0)
	for v := range next {
		n := next[v].Load()
		g.first[v] = sum
		next[v].Store(sum)
		sum += n
	}
	g.first[nodes], g.to = sum, make([]neighbour, sum)
	eachChunk(len(edges), threads, func(from, to int) {
		for _, e := range edges[from:to] {
			g.to[next[e.A].Add(1)-1] = neighbour{e.B, e.Weight}
			g.to[next[e.B].Add(1)-1] = neighbour{e.A, e.Weight}
		}
	})
	return g, nil
}

// Nodes returns how many nodes there are.
func (g *Graph) Nodes() int { return len(g.first) - 1 }

func (g *Graph) neighbours(v int) []neighbour { return g.to[g.first[v]:g.first[v+1]] }

// eachChunk calls f for ranges that cover 0 to n-1, from several goroutines.
func eachChunk(n, threads int, f func(from, to int)) {
	tasks.Each((n+chunk-1)/chunk, threads, func(_, i int) { f(i*chunk, min((i+1)*chunk, n)) })
}
