package groups

// edge joins two nodes of a graph. Edges have no direction; several between the same nodes count together.
type edge struct{ a, b, weight uint32 }

// propagate divides nodes into groups by label propagation and returns each node's label, which is that of all nodes of its group.
//
// Each node begins with a label of its own. One after another, nodes take the label that their neighbours have with the largest sum of
// weights, of equal ones the smallest, until none wants another label (Raghavan, Albert, Kumara: Near linear time algorithm to detect
// community structures in large-scale networks, Physical Review E 2007, DOI 10.1103/PhysRevE.76.036106; with weights by similarity it is
// how MetaBAT 2 groups contigs, Kang et al., PeerJ 2019, DOI 10.7717/peerj.7359). Each change increases the weight of all edges within
// groups, or leaves it and makes a label smaller, so this ends. Only nodes with a neighbour that changed are looked at again.
func propagate(nodes int, edges []edge) []uint32 {
	neighbours := make([][]edge, nodes) // b is the other node
	for _, e := range edges {
		neighbours[e.a] = append(neighbours[e.a], e)
		neighbours[e.b] = append(neighbours[e.b], edge{e.b, e.a, e.weight})
	}
	labels, active, sums := make([]uint32, nodes), make([]bool, nodes), make([]uint64, nodes)
	for v := range labels {
		labels[v], active[v] = uint32(v), true
	}
	for changed := true; changed; {
		changed = false
		for v := range labels {
			if !active[v] {
				continue
			}
			active[v] = false
			label := wanted(neighbours[v], labels, sums, labels[v])
			if label == labels[v] {
				continue
			}
			labels[v], changed = label, true
			for _, e := range neighbours[v] {
				active[e.b] = true
			}
		}
	}
	return labels
}

// wanted returns the label that a node with such neighbours is to have: its own if it has none. sums has a 0 for each label.
func wanted(neighbours []edge, labels []uint32, sums []uint64, own uint32) uint32 {
	for _, e := range neighbours {
		sums[labels[e.b]] += uint64(e.weight)
	}
	best, most := own, uint64(0)
	for _, e := range neighbours {
		label := labels[e.b]
		if sum := sums[label]; sum > most || sum == most && sum > 0 && label < best {
			best, most = label, sum
		}
	}
	for _, e := range neighbours {
		sums[labels[e.b]] = 0
	}
	return best
}
