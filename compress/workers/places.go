package workers

import (
	"context"
	"slices"
	"sync"
)

// places are what tasks wait for and take. Of the tasks that wait, that of the lowest turn takes the next free place, and of equal turns
// the one that came first.
type places struct {
	Number  int // of all places
	mu      sync.Mutex
	free    int
	waiting []*waitingTask // in the order in which they take places
}

// waitingTask is a task that waits for a place.
type waitingTask struct {
	turn  int
	ready chan struct{} // closed when it has its place
}

// enter waits for a place and takes it, unless ctx ends first, whose error it returns then.
func (p *places) enter(ctx context.Context, turn int) error {
	p.mu.Lock()
	if p.free > 0 {
		p.free--
		p.mu.Unlock()
		return nil
	}
	t := &waitingTask{turn, make(chan struct{})}
	// After the others of its turn.
	at, _ := slices.BinarySearchFunc(p.waiting, turn+1, func(w *waitingTask, turn int) int { return w.turn - turn })
	p.waiting = slices.Insert(p.waiting, at, t)
	p.mu.Unlock()
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	at = slices.Index(p.waiting, t)
	if at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
	}
	p.mu.Unlock()
	if at < 0 { // it has its place
		p.leave()
	}
	return ctx.Err()
}

// leave gives a place back.
func (p *places) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		p.free++
		return
	}
	close(p.waiting[0].ready)
	p.waiting = slices.Delete(p.waiting, 0, 1)
}
