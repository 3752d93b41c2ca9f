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
	t := p.join(turn)
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
	}
	if p.withdraw(t) {
		p.leave()
	}
	return ctx.Err()
}

// join has a task wait for a place, which it may have at once.
func (p *places) join(turn int) *waitingTask {
	t := &waitingTask{turn, make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free > 0 {
		p.free--
		close(t.ready)
		return t
	}
	// After the others of its turn.
	at, _ := slices.BinarySearchFunc(p.waiting, turn+1, func(w *waitingTask, turn int) int { return w.turn - turn })
	p.waiting = slices.Insert(p.waiting, at, t)
	return t
}

// withdraw has a task wait no longer, and reports whether it has its place.
func (p *places) withdraw(t *waitingTask) (has bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.Index(p.waiting, t)
	if at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
	}
	return at < 0
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
