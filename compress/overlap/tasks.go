package overlap

import (
	"context"
	"sync"
	"sync/atomic"
)

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

// eachInParallel calls f(t, i) for each i of 0..n-1, in ascending order, from up to `threads` goroutines (at least one), whose
// numbers are t. After an error, no more calls begin. It returns the error of the smallest i that failed, or ctx.Err().
func eachInParallel(ctx context.Context, n, threads int, f func(t, i int) error) error {
	var next atomic.Int64
	var mu sync.Mutex
	var failure error
	failed := n
	parallel(max(1, min(threads, n)), func(t int) {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := f(t, i); err != nil {
				mu.Lock()
				if i < failed {
					failed, failure = i, err
				}
				mu.Unlock()
				next.Store(int64(n))
			}
		}
	})
	if failure != nil {
		return failure
	}
	return ctx.Err()
}

// eachTask calls f(t, i) for each i of 0..n-1, in ascending order, from up to `threads` goroutines (at least one), whose numbers
// are t.
func eachTask(n, threads int, f func(t, i int)) {
	var next atomic.Int64
	parallel(max(1, min(threads, n)), func(t int) {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(t, i)
		}
	})
}

// inParallel calls f for consecutive ranges of 0..n-1, of `size` numbers but the last, from up to `threads` goroutines. worker,
// below threads, is the goroutine's number.
func inParallel(threads, n, size int, f func(worker, from, to int)) {
	eachTask((n+size-1)/size, threads, func(t, i int) { f(t, i*size, min((i+1)*size, n)) })
}
