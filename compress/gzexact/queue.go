package gzexact

// run has up to so many tasks of next, until that returns nil, run side by side, and calls write with each, in order. code gets the task
// before, too; if the frame is carried on, that has ended.
func run(threads int, next func() (*task, error), code func(t, before *task), write func(t *task) error) error {
	var tasks []*task
	var last *task
	t, err := next()
	for err == nil && t != nil || len(tasks) > 0 {
		if err == nil && t != nil && len(tasks) < max(threads, 1) {
			t.done = make(chan struct{})
			go func(t, before *task) {
				defer close(t.done)
				if t.carriedOn {
					<-before.done
				}
				code(t, before)
			}(t, last)
			tasks, last = append(tasks, t), t
			t, err = next()
			continue
		}
		first := tasks[0]
		tasks = tasks[1:]
		if <-first.done; err == nil {
			err = first.err
		}
		if err == nil {
			err = write(first)
		}
	}
	return err
}
