package binning

import (
	"sync"
	"sync/atomic"
)

// pool shares the run's threads among the streams: the tasks of all streams together never run
// on more threads than there are.
type pool struct {
	threads int
	tokens  chan struct{}
}

func newPool(threads int) *pool {
	return &pool{threads: threads, tokens: make(chan struct{}, threads)}
}

// run is a bins.Runner.
func (p *pool) run(n int, task func(i int)) {
	var next atomic.Int64
	work := func() {
		p.tokens <- struct{}{}
		for i := next.Add(1); i <= int64(n); i = next.Add(1) {
			task(int(i - 1))
		}
		<-p.tokens
	}
	var wait sync.WaitGroup
	for range min(n, p.threads) - 1 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			work()
		}()
	}
	work()
	wait.Wait()
}
