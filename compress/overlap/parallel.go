package overlap

import (
	"sync"
	"sync/atomic"
)

// inParallel calls f for consecutive ranges of 0..n-1, at most size numbers each, on so many goroutines. worker, below threads,
// identifies the goroutine.
func inParallel(threads, n, size int, f func(worker, from, to int)) {
	threads = min(threads, (n+size-1)/size)
	if threads <= 1 {
		for from := 0; from < n; from += size {
			f(0, from, min(from+size, n))
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range threads {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				from := int(next.Add(int64(size))) - size
				if from >= n {
					return
				}
				f(w, from, min(from+size, n))
			}
		}()
	}
	wg.Wait()
}
