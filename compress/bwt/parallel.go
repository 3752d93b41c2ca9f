package bwt

import (
	"sync"
	"sync/atomic"
)

// minShare is the least number of symbols that is worth a thread of its own.
const minShare = 1 << 14

// cut divides n items into shares for threads and returns their bounds, len(bounds)-1 shares.
func cut(n, threads int) []int {
	shares := max(min(threads, n/minShare), 1)
	bounds := make([]int, shares+1)
	for i := range bounds {
		bounds[i] = int(uint64(n) * uint64(i) / uint64(shares))
	}
	return bounds
}

// parallel calls f(0) to f(n-1), as many at a time as there are threads.
func parallel(n, threads int, f func(i int)) {
	parallelWorkers(n, threads, func(_, i int) { f(i) })
}

// parallelWorkers is parallel that also gives f the number of the thread, from 0.
func parallelWorkers(n, threads int, f func(worker, i int)) {
	threads = min(threads, n)
	if threads <= 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for w := range threads {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(w, i)
			}
		})
	}
	wait.Wait()
}
