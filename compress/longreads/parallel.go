package longreads

import (
	"sync"
	"sync/atomic"
)

// parallel calls functions for 0..n-1 on up to threads goroutines, and returns when all calls have. newWorker is called by each
// goroutine and returns the function that it calls, which may have memory of its own.
func parallel(threads, n int, newWorker func() func(i int)) {
	var next atomic.Int64
	work := func() {
		f := newWorker()
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			f(int(i))
		}
	}
	var wg sync.WaitGroup
	for range min(threads, n) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}
