// Package alphabetic makes binary codes that keep the order of the symbols: the bits of two texts compare as the texts do.
package alphabetic

// Lengths computes the depths of the leaves of the binary tree that has leaves of the given weights in their order and the least sum of
// weight times depth (Gilbert and Moore, "Variable-length binary encodings", 1959, section 6, with the bounds of Knuth, "Optimum binary
// search trees", 1971, which make it quadratic). lengths is as long as weight. A single leaf has depth 0.
func Lengths(weight []uint64, lengths []int) {
	n := len(weight)
	sum := make([]uint64, n+1)
	for i, w := range weight {
		sum[i+1] = sum[i] + w
	}
	cost := make([]uint64, n*n) // cost[i*n+j]: of the tree over i..j
	root := make([]uint16, n*n) // root[i*n+j]: the last leaf of its left part
	for i := range n {
		root[i*n+i] = uint16(i)
	}
	for d := 1; d < n; d++ {
		for i := 0; i+d < n; i++ {
			j := i + d
			best, at := ^uint64(0), i
			from, to := int(root[i*n+j-1]), min(int(root[(i+1)*n+j]), j-1)
			for k := from; k <= to; k++ {
				if c := cost[i*n+k] + cost[(k+1)*n+j]; c < best {
					best, at = c, k
				}
			}
			cost[i*n+j], root[i*n+j] = best+sum[j+1]-sum[i], uint16(at)
		}
	}
	var walk func(i, j, depth int)
	walk = func(i, j, depth int) {
		if i == j {
			lengths[i] = depth
			return
		}
		k := int(root[i*n+j])
		walk(i, k, depth+1)
		walk(k+1, j, depth+1)
	}
	if n > 0 {
		walk(0, n-1, 0)
	}
}

// Codes returns the codes of the leaves of the given depths, in their order: each is the bits of the way from the root, of which there are
// as many as its depth, at most 32.
func Codes(lengths []int) []uint32 {
	codes := make([]uint32, len(lengths))
	next := uint64(0) // the code in the highest of 32 bits
	for i, l := range lengths {
		codes[i] = uint32(next >> (32 - l))
		next += 1 << (32 - l)
	}
	return codes
}
