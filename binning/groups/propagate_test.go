package groups

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"orcomgo/internal/testrun"
)

// clique appends the edges between all of the nodes from..to-1.
func clique(edges []edge, from, to, weight uint32) []edge {
	for a := from; a < to; a++ {
		for b := a + 1; b < to; b++ {
			edges = append(edges, edge{a, b, weight})
		}
	}
	return edges
}

// bipartite returns the edges between nodes 0..a-1 and a..a+b-1.
func bipartite(a, b uint32) (edges []edge) {
	for i := range a {
		for j := range b {
			edges = append(edges, edge{i, a + j, 1})
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
		edges []edge
		want  []uint32
	}{
		{"no nodes", 0, nil, nil},
		{"no edges", 3, nil, []uint32{0, 1, 2}},
		{"a pair", 2, []edge{{0, 1, 1}}, []uint32{0, 0}},
		{"a weight of 0 is no edge", 2, []edge{{0, 1, 0}}, []uint32{0, 1}},
		{"a node joined to itself", 2, []edge{{1, 1, 5}}, []uint32{0, 1}},
		{"two cliques", 9, cliques, append(repeat(0, 5), repeat(5, 4)...)},
		{"two cliques and a weak edge", 9, append(cliques, edge{4, 5, 3}), append(repeat(0, 5), repeat(5, 4)...)},
		{"a strong edge between pairs", 4, []edge{{0, 1, 9}, {2, 3, 9}, {1, 2, 8}}, []uint32{0, 0, 2, 2}},
		{"edges count together", 3, []edge{{0, 1, 3}, {1, 2, 2}, {2, 1, 2}}, []uint32{0, 0, 0}},
		{"both sides of a bipartite graph", 40, bipartite(20, 20), repeat(0, 40)},
		{"a star", 40, bipartite(1, 39), repeat(0, 40)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := leastNodes(propagate(c.nodes, c.edges)); len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
				t.Errorf("groups %v, want %v", got, c.want)
			}
		})
	}
}

// In the end every node has the label that it wants, whatever the graph.
func TestPropagateStable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + r.IntN(30)
		var edges []edge
		for range r.IntN(3 * n) {
			edges = append(edges, edge{r.Uint32N(uint32(n)), r.Uint32N(uint32(n)), r.Uint32N(4)})
		}
		labels := propagate(n, edges)
		for v := range n {
			sums := map[uint32]uint64{}
			for _, e := range edges {
				if int(e.a) == v {
					sums[labels[e.b]] += uint64(e.weight)
				}
				if int(e.b) == v {
					sums[labels[e.a]] += uint64(e.weight)
				}
			}
			for label, sum := range sums {
				if sum > sums[labels[v]] {
					t.Fatalf("%d nodes, edges %v: node %d has label %d (%d), and %d has %d", n, edges, v, labels[v], sums[labels[v]], label, sum)
				}
			}
		}
	}
}

// planted returns edges of which nine in ten are within groups of 100 nodes.
func planted(nodes, n int) []edge {
	r := rand.New(rand.NewPCG(3, 4))
	edges := make([]edge, n)
	for i := range edges {
		a := r.Uint32N(uint32(nodes))
		b := a/100*100 + r.Uint32N(100)
		if i%10 == 0 {
			b = r.Uint32N(uint32(nodes))
		}
		edges[i] = edge{a, min(b, uint32(nodes)-1), 1 + r.Uint32N(1000)}
	}
	return edges
}

func TestPlanted(t *testing.T) {
	testrun.NoRace(t)
	for v, label := range leastNodes(propagate(2000, planted(2000, 40000))) {
		if label != uint32(v/100*100) {
			t.Fatalf("node %d is in group %d", v, label)
		}
	}
}

func TestLargeGraph(t *testing.T) {
	testrun.OnlyLong(t)
	began := time.Now()
	for v, label := range leastNodes(propagate(1e5, planted(1e5, 1e7))) {
		if label != uint32(v/100*100) {
			t.Fatalf("node %d is in group %d", v, label)
		}
	}
	t.Logf("%.2f s", time.Since(began).Seconds())
}

func BenchmarkPropagate(b *testing.B) {
	edges := planted(1e5, 1e7)
	for b.Loop() {
		propagate(1e5, edges)
	}
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
