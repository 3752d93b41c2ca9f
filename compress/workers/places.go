package workers

import (
	"container/heap"
	"context"
	"sync"
)

// places are what tasks wait for and take. Of the tasks that wait, that of the lowest turn takes the next free place, and of equal turns
// the one that came first.
type places struct {
	Number  int // of all places
	mu      sync.Mutex
	free    int
	came    int // tasks that have waited
	waiting waitingTasks
}

func newPlaces(number int) *places {
	number = max(number, 1)
	return &places{Number: number, free: number}
}

// waitingTask is a task that waits for a place.
type waitingTask struct {
	turn, came int
	index      int           // among the others; -1 when it has its place
	ready      chan struct{} // closed then
}

// enter waits for a place and takes it, unless ctx ends first, whose error it returns then.
func (p *places) enter(ctx context.Context, turn int) error {
	p.mu.Lock()
	if p.free > 0 {
		p.free--
		p.mu.Unlock()
		return nil
	}
	t := &waitingTask{turn: turn, came: p.came, ready: make(chan struct{})}
	p.came++
	heap.Push(&p.waiting, t)
	p.mu.Unlock()
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	has := t.index < 0
	if !has {
		heap.Remove(&p.waiting, t.index)
	}
	p.mu.Unlock()
	if has {
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
	close(heap.Pop(&p.waiting).(*waitingTask).ready)
}

// waitingTasks implements heap.Interface: the first is the one that takes the next place.
type waitingTasks []*waitingTask

func (w waitingTasks) Len() int { return len(w) }

func (w waitingTasks) Less(i, j int) bool {
	return w[i].turn < w[j].turn || w[i].turn == w[j].turn && w[i].came < w[j].came
}

func (w waitingTasks) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].index, w[j].index = i, j
}

// Push implements heap.Interface.
func (w *waitingTasks) Push(x any) {
	t := x.(*waitingTask)
	t.index = len(*w)
	*w = append(*w, t)
}

// Pop implements heap.Interface.
func (w *waitingTasks) Pop() any {
	last := len(*w) - 1
	t := (*w)[last]
	(*w)[last] = nil
	*w, t.index = (*w)[:last], -1
	return t
}
