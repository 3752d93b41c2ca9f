package tasks

import (
	"sync"
	"sync/atomic"
)

// Pool limits how many goroutines work at a time on the calls of several callers. A nil Pool has no goroutines.
type Pool struct{ places chan struct{} }

// NewPool returns a pool of so many places.
func NewPool(places int) *Pool { return &Pool{make(chan struct{}, max(places, 0))} }

// Enter waits for a place of the pool and takes it.
func (p *Pool) Enter() { p.places <- struct{}{} }

// Leave gives a place back.
func (p *Pool) Leave() { <-p.places }

// tryEnter takes a place if there is one.
func (p *Pool) tryEnter() bool {
	if p == nil {
		return false
	}
	select {
	case p.places <- struct{}{}:
		return true
	default:
		return false
	}
}

// Each calls f(i) for each i of 0 to n-1 and returns when all calls have: in the calling goroutine, and in one for each place that is
// or becomes free. Calls begin in order. f may call Each.
func (p *Pool) Each(n int, f func(i int)) {
	var next atomic.Int64
	var others sync.WaitGroup
	var work func()
	work = func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			if int(next.Load()) < n && p.tryEnter() {
				others.Go(func() {
					defer p.Leave()
					work()
				})
			}
			f(i)
		}
	}
	work()
	others.Wait()
}

// Run is Each in a goroutine that has no place of the pool: it waits for one first.
func (p *Pool) Run(n int, f func(i int)) {
	p.Enter()
	defer p.Leave()
	p.Each(n, f)
}
