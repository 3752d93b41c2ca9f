package quals

import (
	"math/bits"
	"slices"
)

// alphabet is the set of byte values in a column, each with a rough frequency, and the
// Huffman-shaped tree of binary decisions that tells them apart: frequent values lie near
// the root, so a symbol costs few decisions.
type alphabet struct {
	values []byte   // ascending
	weight []byte   // rough frequency of each value, packed (packWeight)
	rank   [256]int // index in values of a byte

	child [][2]int16 // of each inner node, root first, by falling weight: another inner node, or ^symbol
	path  [][]uint16 // of each symbol: node<<1 | bit for each decision from the root
}

// packWeight rounds a count to three leading bits and an exponent: 0..255, monotone.
func packWeight(n uint64) byte {
	if n < 8 {
		return byte(n)
	}
	e := bits.Len64(n) - 3
	return byte((e+1)<<2 + int(n>>e) - 4)
}

func unpackWeight(b byte) uint64 {
	if b < 8 {
		return uint64(b)
	}
	return uint64(b&3|4) << (b>>2 - 1)
}

func newAlphabet(counts *[256]uint64) *alphabet {
	a := &alphabet{}
	for v, n := range counts {
		if n > 0 {
			a.values = append(a.values, byte(v))
			a.weight = append(a.weight, packWeight(n))
		}
	}
	a.build()
	return a
}

// append writes the alphabet: the number of values less 1, then value and weight of each.
func (a *alphabet) append(out []byte) []byte {
	out = append(out, byte(len(a.values)-1))
	for i, v := range a.values {
		out = append(out, v, a.weight[i])
	}
	return out
}

func parseAlphabet(data []byte) (*alphabet, []byte, error) {
	if len(data) == 0 {
		return nil, nil, ErrCorrupt
	}
	n := int(data[0]) + 1
	data = data[1:]
	if n < 2 || len(data) < 2*n {
		return nil, nil, ErrCorrupt
	}
	a := &alphabet{values: make([]byte, n), weight: make([]byte, n)}
	for i := range a.values {
		a.values[i], a.weight[i] = data[2*i], data[2*i+1]
		if i > 0 && a.values[i] <= a.values[i-1] || a.weight[i] > 200 {
			return nil, nil, ErrCorrupt
		}
	}
	a.build()
	return a, data[2*n:], nil
}

// build makes the tree: Huffman's, ties to the smaller index.
func (a *alphabet) build() {
	n := len(a.values)
	for i, v := range a.values {
		a.rank[v] = i
	}
	type node struct {
		weight uint64
		child  [2]int
	}
	nodes := make([]node, n, 2*n)
	open := make([]int, n)
	for i := range open {
		open[i], nodes[i].weight = i, unpackWeight(a.weight[i])
	}
	for len(open) > 1 {
		slices.SortStableFunc(open, func(x, y int) int {
			if nodes[x].weight != nodes[y].weight {
				if nodes[x].weight > nodes[y].weight {
					return -1
				}
				return 1
			}
			return y - x
		})
		x, y := open[len(open)-2], open[len(open)-1]
		open = append(open[:len(open)-2], len(nodes))
		nodes = append(nodes, node{nodes[x].weight + nodes[y].weight, [2]int{y, x}})
	}
	// Nodes made later are heavier: number them from the root down.
	last := len(nodes) - 1
	a.child = make([][2]int16, n-1)
	a.path = make([][]uint16, n)
	paths := make([][]uint16, len(nodes))
	for i := last; i >= n; i-- {
		for b, c := range nodes[i].child {
			p := append(slices.Clone(paths[i]), uint16((last-i)<<1|b))
			if c < n {
				a.child[last-i][b] = int16(^c)
				a.path[c] = p
			} else {
				a.child[last-i][b] = int16(last - c)
				paths[c] = p
			}
		}
	}
}
