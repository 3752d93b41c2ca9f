package bwt

import "orcomgo/internal/tasks"

// minShare is the least number of symbols that is worth a thread of its own.
const minShare = 1 << 14

// cut divides n items into shares for threads and returns their bounds, len(bounds)-1 shares.
func cut(n, threads int) []int {
	return cutInto(n, max(min(threads, n/minShare), 1))
}

// cutInto divides n items into so many shares.
func cutInto(n, shares int) []int {
	bounds := make([]int, shares+1)
	for i := range bounds {
		bounds[i] = int(uint64(n) * uint64(i) / uint64(shares))
	}
	return bounds
}

// parallel calls f(0) to f(n-1), as many at a time as there are threads.
func parallel(n, threads int, f func(i int)) {
	tasks.Each(n, threads, func(_, i int) { f(i) })
}

// cutWords is cut, by shares of whole words of 64 items but the last one.
func cutWords(n, threads int) []int {
	bounds := cut(n, threads)
	for i := range bounds[:len(bounds)-1] {
		bounds[i] &^= 63
	}
	return bounds
}
