package overlap

import "sync"

// parallel calls f(0) to f(n-1) in n goroutines and returns when all have returned.
func parallel(n int, f func(t int)) {
	if n == 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	for t := range n {
		wg.Go(func() { f(t) })
	}
	wg.Wait()
}

// divide returns the t-th of `parts` nearly equal ranges of 0..n-1.
func divide(n, t, parts int) (from, to int) {
	return int(uint64(n) * uint64(t) / uint64(parts)), int(uint64(n) * uint64(t+1) / uint64(parts))
}
