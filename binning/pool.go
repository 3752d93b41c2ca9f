package binning

import "orcomgo/internal/tasks"

// pool shares the run's threads among the streams: the tasks of all streams together never run
// on more threads than there are.
type pool struct {
	threads int
	places  *tasks.Pool
}

func newPool(threads int) *pool { return &pool{threads, tasks.NewPool(threads)} }

// run is a bins.Runner.
func (p *pool) run(n int, task func(i int)) {
	p.places.Enter()
	defer p.places.Leave()
	p.places.Each(n, task)
}
