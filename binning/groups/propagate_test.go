package groups

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"orcomgo/internal/testrun"
)

// propagate returns the groups of a graph, which must be the same for 1, 2, 3 and 8 threads.
func propagate(t *testing.T, nodes int, edges []Edge) []uint32 {
	t.Helper()
	return propagateIn(t, nodes, edges, synchronousRounds)
}

// propagateIn is propagate with so many synchronous rounds.
func propagateIn(t *testing.T, nodes int, edges []Edge, rounds int) []uint32 {
	t.Helper()
	var all []uint32
	for i, threads := range []int{1, 2, 3, 8} {
		g, err := NewGraph(nodes, edges, threads)
		if err != nil {
			t.Fatal(err)
		}
		labels := g.propagate(threads, rounds)
		if i > 0 && !reflect.DeepEqual(labels, all) {
			t.Errorf("%d threads find other groups than 1", threads)
		}
		all = labels
	}
	return all
}

// clique appends the edges between all of the nodes from..to-1.
func clique(edges []Edge, from, to, weight uint32) []Edge {
	for a := from; a < to; a++ {
		for b := a + 1; b < to; b++ {
			edges = append(edges, Edge{a, b, weight})
		}
	}
	return edges
}

// bipartite returns the edges between nodes 0..a-1 and a..a+b-1.
func bipartite(a, b uint32) (edges []Edge) {
	for i := range a {
		for j := range b {
			edges = append(edges, Edge{i, a + j, 1})
		}
	}
	return edges
}

func TestPropagate(t *testing.T) {
	repeat := func(v uint32, n int) (all []uint32) {
		for range n {
			all = append(all, v)
		}
		return all
	}
	cliques := clique(clique(nil, 0, 5, 10), 5, 9, 10)
	for _, c := range []struct {
		name  string
		nodes int
		edges []Edge
		want  []uint32
	}{
		{"no nodes", 0, nil, nil},
		{"no edges", 3, nil, []uint32{0, 1, 2}},
		{"a pair", 2, []Edge{{0, 1, 1}}, []uint32{0, 0}},
		{"a weight of 0 is no edge", 2, []Edge{{0, 1, 0}}, []uint32{0, 1}},
		{"a node joined to itself", 2, []Edge{{1, 1, 5}}, []uint32{0, 1}},
		{"two cliques", 9, cliques, append(repeat(0, 5), repeat(5, 4)...)},
		{"two cliques and a weak edge", 9, append(cliques, Edge{4, 5, 3}), append(repeat(0, 5), repeat(5, 4)...)},
		{"a strong edge between pairs", 4, []Edge{{0, 1, 9}, {2, 3, 9}, {1, 2, 8}}, []uint32{0, 0, 2, 2}},
		{"edges count together", 3, []Edge{{0, 1, 3}, {1, 2, 2}, {2, 1, 2}}, []uint32{0, 0, 0}},
		{"both sides of a bipartite graph", 40, bipartite(20, 20), repeat(0, 40)},
		{"a star", 40, bipartite(1, 39), repeat(0, 40)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := propagate(t, c.nodes, c.edges); len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
				t.Errorf("groups %v, want %v", got, c.want)
			}
		})
	}
}

// Without any synchronous rounds, and with too few to come to an end, one node after another changes.
func TestPropagateInTurn(t *testing.T) {
	for _, rounds := range []int{0, 1, 2} {
		for _, n := range propagateIn(t, 60, bipartite(30, 30), rounds) {
			if n != 0 {
				t.Fatalf("after %d rounds: a node is in group %d", rounds, n)
			}
		}
	}
}

// In the end every node has the label that it wants, whatever the graph.
func TestPropagateStable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + r.IntN(30)
		var edges []Edge
		for range r.IntN(3 * n) {
			edges = append(edges, Edge{r.Uint32N(uint32(n)), r.Uint32N(uint32(n)), r.Uint32N(4)})
		}
		labels := propagate(t, n, edges)
		g, _ := NewGraph(n, edges, 1)
		for v := range n {
			sums := map[uint32]uint64{}
			for _, to := range g.neighbours(v) {
				sums[labels[to.node]] += uint64(to.weight)
			}
			for label, sum := range sums {
				if sum > sums[labels[v]] {
					t.Fatalf("%d nodes, edges %v: node %d has label %d (%d), and %d has %d", n, edges, v, labels[v], sums[labels[v]], label, sum)
				}
			}
		}
	}
}

func TestGraphErrors(t *testing.T) {
	if _, err := NewGraph(2, []Edge{{0, 2, 1}}, 1); err == nil {
		t.Error("an edge to a node that is not there is accepted")
	}
	if _, err := NewGraph(-1, nil, 1); err == nil {
		t.Error("a negative number of nodes is accepted")
	}
}

// planted returns edges of which nine in ten are within groups of 100 nodes.
func planted(nodes, n int) []Edge {
	r := rand.New(rand.NewPCG(3, 4))
	edges := make([]Edge, n)
	for i := range edges {
		a := r.Uint32N(uint32(nodes))
		b := a/100*100 + r.Uint32N(100)
		if i%10 == 0 {
			b = r.Uint32N(uint32(nodes))
		}
		edges[i] = Edge{a, min(b, uint32(nodes)-1), 1 + r.Uint32N(1000)}
	}
	return edges
}

func TestPlanted(t *testing.T) {
	testrun.NoRace(t)
	for v, label := range propagate(t, 2000, planted(2000, 40000)) {
		if label != uint32(v/100*100) {
			t.Fatalf("node %d is in group %d", v, label)
		}
	}
}

func TestLargeGraph(t *testing.T) {
	testrun.OnlyLong(t)
	edges := planted(1e5, 1e7)
	for _, threads := range []int{1, 2} {
		began := time.Now()
		g, err := NewGraph(1e5, edges, threads)
		if err != nil {
			t.Fatal(err)
		}
		made := time.Since(began)
		for v, label := range g.Propagate(threads) {
			if label != uint32(v/100*100) {
				t.Fatalf("node %d is in group %d", v, label)
			}
		}
		t.Logf("%d threads: %.2f s, of which %.2f s make the graph", threads, time.Since(began).Seconds(), made.Seconds())
	}
}

func BenchmarkPropagate(b *testing.B) {
	edges := planted(1e5, 1e7)
	for b.Loop() {
		g, err := NewGraph(1e5, edges, 2)
		if err != nil {
			b.Fatal(err)
		}
		g.Propagate(2)
	}
}
