package basemodel

import "sync"

// parallelFor calls f for 0..n-1 on up to threads goroutines, at least one, and returns when all calls have.
func parallelFor(n, threads int, f func(k int)) {
	next := make(chan int, n)
	for k := range n {
		next <- k
	}
	close(next)
	var wg sync.WaitGroup
	for range min(max(threads, 1), n) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range next {
				f(k)
			}
		}()
	}
	wg.Wait()
}

// barrier makes n goroutines wait for each other, again and again.
type barrier struct {
	mu         sync.Mutex
	released   sync.Cond
	n, waiting int
	generation int // how often all n have arrived
}

func newBarrier(n int) *barrier {
	b := &barrier{n: n}
	b.released.L = &b.mu
	return b
}

// wait returns when all n goroutines have called it as often as the caller.
func (b *barrier) wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting++; b.waiting == b.n {
		b.waiting = 0
		b.generation++
		b.released.Broadcast()
		return
	}
	for g := b.generation; g == b.generation; {
		b.released.Wait()
	}
}
