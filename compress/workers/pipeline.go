// Package workers bounds what is computed at once: a pool of places for tasks, results in order, buffers that are used again, and the
// progress of all that.
package workers

import (
	"context"
	"math"

	"golang.org/x/sync/errgroup"
)

// Pool bounds how many columns are coded or decoded at once. A task holds its place
// only while it computes, never while it waits for another.
type Pool struct {
	*places
	turn int // of tasks: see places
}

// NewPool returns workers whose tasks begin in the order in which they come.
func NewPool(threads int) Pool {
	threads = max(threads, 1)
	return Pool{places: &places{Number: threads, free: threads}}
}

// InTurn returns the same workers for tasks that others with lower turns go before.
func (w Pool) InTurn(turn int) Pool { return Pool{w.places, turn} }

// ReleaseWhile gives the place of the task that calls it to another while f, which waits, runs.
func (w Pool) ReleaseWhile(f func()) {
	w.leave()
	f()
	w.enter(context.Background(), 0) // before all others: it has begun, and what it has in memory is freed at its end
}

// lastTurn is the turn of tasks that all others go before.
const lastTurn = math.MaxInt32 - 1

// ReleaseUntilIdle is ReleaseWhile for a task that need not wait: idle is closed when it has a place again that no other task wants, and f
// should return.
func (w Pool) ReleaseUntilIdle(f func(idle <-chan struct{})) {
	w.leave()
	t := w.join(lastTurn)
	f(t.ready)
	if !w.withdraw(t) {
		w.enter(context.Background(), 0)
	}
}

// WaitOutside is what tasks.Once waits by if a task asks for it: another task has its place meanwhile.
func (w Pool) WaitOutside(done <-chan struct{}) error {
	select {
	case <-done:
	default:
		w.ReleaseWhile(func() { <-done })
	}
	return nil
}

// Hold takes up to n places, as they become free, for goroutines that compute without taking one themselves, until that channel is closed.
// It returns at once.
func (w Pool) Hold(ctx context.Context, n int, until <-chan struct{}) {
	for range n {
		go w.Do(ctx, func() error {
			<-until
			return nil
		})
	}
}

// Do runs f once a worker is free, unless ctx ends first.
func (w Pool) Do(ctx context.Context, f func() error) error {
	if err := w.enter(ctx, w.turn); err != nil {
		return err
	}
	defer w.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f()
}

// InOrder calls produce for 0..n-1, up to InFlight of them at once, and consume for each
// result in ascending order, one at a time. A result counts as in flight until it is
// consumed, which is what bounds memory. The first error ends it all and is returned.
func InOrder[T any](ctx context.Context, n, inFlight int, produce func(context.Context, int) (T, error), consume func(int, T) error) error {
	return InOrderUntil(ctx, n, inFlight, produce, func(i int, v T, done func()) error {
		err := consume(i, v)
		done()
		return err
	})
}

// InOrderUntil is InOrder for results that are in flight until consume, or another goroutine then, has called done.
func InOrderUntil[T any](ctx context.Context, n, inFlight int, produce func(context.Context, int) (T, error),
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

// Waiting returns what tasks.Once waits by if no task asks for it: Wait with ctx.
func Waiting(ctx context.Context) func(done <-chan struct{}) error {
	return func(done <-chan struct{}) error { return Wait(ctx, done) }
}

// Wait returns when c is closed, or with the error of ctx.
func Wait(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
