package compress

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// workers bounds how many columns are coded or decoded at once. A task holds its place
// only while it computes, never while it waits for another.
type workers struct {
	*places
	turn int // of tasks: see places
}

// newWorkers returns workers whose tasks begin in the order in which they come.
func newWorkers(threads int) workers { return workers{places: newPlaces(threads)} }

// inTurn returns the same workers for tasks that others with lower turns go before.
func (w workers) inTurn(turn int) workers { return workers{w.places, turn} }

// releaseWhile gives the place of the task that calls it to another while f, which waits, runs.
func (w workers) releaseWhile(f func()) {
	w.leave()
	f()
	w.enter(context.Background(), 0) // before all others: it has begun, and what it has in memory is freed at its end
}

// hold takes up to n places, as they become free, for goroutines that compute without taking one themselves, until that channel is closed.
// It returns at once.
func (w workers) hold(ctx context.Context, n int, until <-chan struct{}) {
	for range n {
		go w.do(ctx, func() error {
			<-until
			return nil
		})
	}
}

// do runs f once a worker is free, unless ctx ends first.
func (w workers) do(ctx context.Context, f func() error) error {
	if err := w.enter(ctx, w.turn); err != nil {
		return err
	}
	defer w.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f()
}

// onceWork is work that several goroutines need done: the first of them does it, the others
// wait without holding a worker.
type onceWork struct {
	taken atomic.Bool
	done  chan struct{}
	err   error
}

func newOnceWork() *onceWork { return &onceWork{done: make(chan struct{})} }

// wait returns once the work is done, with its error. The first caller does it, by its work.
func (g *onceWork) wait(ctx context.Context, work func() error) error {
	if g.taken.CompareAndSwap(false, true) {
		g.err = work()
		close(g.done)
		return g.err
	}
	if err := waitFor(ctx, g.done); err != nil {
		return err
	}
	return g.err
}

// inOrder calls produce for 0..n-1, up to inFlight of them at once, and consume for each
// result in ascending order, one at a time. A result counts as in flight until it is
// consumed, which is what bounds memory. The first error ends it all and is returned.
func inOrder[T any](ctx context.Context, n, inFlight int, produce func(context.Context, int) (T, error), consume func(int, T) error) error {
	return inOrderUntil(ctx, n, inFlight, produce, func(i int, v T, done func()) error {
		err := consume(i, v)
		done()
		return err
	})
}

// inOrderUntil is inOrder for results that are in flight until consume, or another goroutine then, has called done.
func inOrderUntil[T any](ctx context.Context, n, inFlight int, produce func(context.Context, int) (T, error),
	consume func(i int, v T, done func()) error) error {
	inFlight = min(max(inFlight, 1), max(n, 1))
	g, ctx := errgroup.WithContext(ctx)
	slots := make(chan struct{}, inFlight)
	// queue holds one channel a result, in order; sending to it never blocks, since slots bounds it.
	queue := make(chan chan T, inFlight)
	g.Go(func() error {
		defer close(queue)
		for i := range n {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			done := make(chan T, 1)
			queue <- done
			g.Go(func() error {
				v, err := produce(ctx, i)
				if err != nil {
					return err
				}
				done <- v
				return nil
			})
		}
		return nil
	})
	g.Go(func() error {
		i := 0
		for done := range queue {
			select {
			case v := <-done:
				if err := consume(i, v, func() { <-slots }); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			i++
		}
		return ctx.Err()
	})
	return g.Wait()
}

// waitFor returns when c is closed, or with the error of ctx.
func waitFor(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
