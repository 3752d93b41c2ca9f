package basemodel

import "sync"

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
