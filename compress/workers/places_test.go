package workers

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestPlacesByTurn: of tasks that wait, that of the lowest turn begins next, and of equal turns the one that came first; those whose
// context ends do not.
func TestPlacesByTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := NewPool(1)
		first := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var order []int
		var all sync.WaitGroup
		task := func(ctx context.Context, turn, number int) {
			all.Go(func() {
				err := pool.InTurn(turn).Do(ctx, func() error {
					if number == 0 {
						<-first
					}
					mu.Lock()
					defer mu.Unlock()
					order = append(order, number)
					return nil
				})
				if cancelled := ctx.Err() != nil; cancelled != errors.Is(err, context.Canceled) || !cancelled && err != nil {
					t.Errorf("task %d: error %v", number, err)
				}
			})
			synctest.Wait() // until it waits
		}
		for number, turn := range []int{5, 7, 3, 7, 1, 3} {
			task(t.Context(), turn, number)
		}
		task(ctx, 2, 6)
		cancel()
		synctest.Wait()
		close(first)
		all.Wait()
		if want := []int{0, 4, 2, 5, 1, 3}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
		if pool.free != 1 {
			t.Errorf("%d places are free, of one", pool.free)
		}
	})
}

// TestReleaseWhile: a task that has waited goes on before others begin.
func TestReleaseWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := NewPool(1)
		waited, second := make(chan struct{}), make(chan struct{})
		var order []string
		var all sync.WaitGroup
		task := func(name string, f func()) {
			all.Go(func() {
				pool.InTurn(1).Do(t.Context(), func() error {
					f()
					order = append(order, name)
					return nil
				})
			})
			synctest.Wait()
		}
		task("first", func() { pool.ReleaseWhile(func() { <-waited }) })
		task("second", func() { <-second })
		task("third", func() {})
		close(waited)
		synctest.Wait()
		close(second)
		all.Wait()
		if want := []string{"second", "first", "third"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

// TestReleaseUntilIdle: a task that need not wait has its place again when no other task wants it, or when what it waits for is there.
func TestReleaseUntilIdle(t *testing.T) {
	for _, idleFirst := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			pool := NewPool(1)
			begin, there, end := make(chan struct{}), make(chan struct{}), make(chan struct{})
			var order []string
			var all sync.WaitGroup
			all.Go(func() {
				pool.Do(t.Context(), func() error {
					<-begin
					pool.ReleaseUntilIdle(func(idle <-chan struct{}) {
						select {
						case <-idle:
							order = append(order, "idle")
						case <-there:
							order = append(order, "there")
						}
					})
					order = append(order, "first ends")
					return nil
				})
			})
			synctest.Wait()
			all.Go(func() {
				pool.Do(t.Context(), func() error {
					<-end
					order = append(order, "second ends")
					return nil
				})
			})
			synctest.Wait()
			close(begin)
			synctest.Wait()
			want := []string{"second ends", "idle", "first ends"}
			if !idleFirst {
				want = []string{"there", "second ends", "first ends"}
				close(there)
				synctest.Wait()
			}
			close(end)
			all.Wait()
			if !slices.Equal(order, want) {
				t.Errorf("order %v, want %v", order, want)
			}
		})
	}
}

// TestPlacesAreNotLost: whether a context ends before or after a task has its place, all are free in the end.
func TestPlacesAreNotLost(t *testing.T) {
	pool := NewPool(3)
	var all sync.WaitGroup
	for i := range 2000 {
		ctx, cancel := context.WithCancel(t.Context())
		all.Go(func() {
			pool.InTurn(i%7).Do(ctx, func() error {
				pool.ReleaseUntilIdle(func(<-chan struct{}) {})
				return nil
			})
		})
		all.Go(cancel)
	}
	all.Wait()
	if pool.free != 3 || len(pool.waiting) != 0 {
		t.Errorf("%d of 3 places are free, %d tasks wait", pool.free, len(pool.waiting))
	}
}

// TestInOrderUntil: results are in flight until done is called for them, also where that is not in their order.
func TestInOrderUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun, consumed atomic.Int32
		waiting := make(chan func(), 6)
		finished := make(chan error, 1)
		go func() {
			finished <- InOrderUntil(t.Context(), 6, 2, func(context.Context, int) (int, error) {
				begun.Add(1)
				return 0, nil
			}, func(i, _ int, done func()) error {
				if n := int(consumed.Add(1)); i != n-1 {
					t.Errorf("result %d is consumed as the %dth", i, n)
				}
				waiting <- done
				return nil
			})
		}()
		for n := range int32(5) {
			if synctest.Wait(); begun.Load() != n+2 || consumed.Load() != n+2 {
				t.Errorf("%d results were begun and %d consumed, want %d", begun.Load(), consumed.Load(), n+2)
			}
			first := <-waiting
			second := <-waiting
			second()
			waiting <- first
		}
		if err := <-finished; err != nil {
			t.Error(err)
		}
	})
}
