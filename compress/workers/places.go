package workers

import (
	"cmp"
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
	came    int // tasks that came so far
	waiting waitingTasks
}

// waitingTask is a task that waits for a place.
type waitingTask struct {
	turn  int
	came  int           // how many came before
	at    int           // where it is among waitingTasks; -1: nowhere
	ready chan struct{} // closed when it has its place
}

// waitingTasks are a heap, whose first one takes the next place: there may be thousands.
type waitingTasks []*waitingTask

func (w waitingTasks) Len() int { return len(w) }

func (w waitingTasks) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(w[i].turn, w[j].turn), cmp.Compare(w[i].came, w[j].came)) < 0
}

func (w waitingTasks) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].at, w[j].at = i, j
}

func (w *waitingTasks) Push(t any) {
	t.(*waitingTask).at = len(*w)
	*w = append(*w, t.(*waitingTask))
}

func (w *waitingTasks) Pop() any {
	last := len(*w) - 1
	t := (*w)[last]
	(*w)[last], *w, t.at = nil, (*w)[:last], -1
	return t
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
	t := &waitingTask{turn: turn, at: -1, ready: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free > 0 {
		p.free--
		close(t.ready)
		return t
	}
	t.came = p.came
	p.came++
	heap.Push(&p.waiting, t)
	return t
}

// withdraw has a task wait no longer, and reports whether it has its place.
func (p *places) withdraw(t *waitingTask) (has bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.at < 0 {
		return true
	}
	heap.Remove(&p.waiting, t.at)
	return false
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
