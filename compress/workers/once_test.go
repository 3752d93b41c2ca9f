package workers

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"orcomgo/internal/tasks"
)

// TestOnce: of many goroutines one computes, and all get what it returned, also an error.
func TestOnce(t *testing.T) {
	failed := errors.New("failed")
	for _, want := range []error{nil, failed} {
		o := tasks.NewOnce[int]()
		var calls atomic.Int32
		var all sync.WaitGroup
		pool := NewPool(2)
		for range 9 {
			all.Go(func() {
				pool.Do(t.Context(), func() error {
					v, err := o.Get(pool.WaitOutside, func() (int, error) { return int(calls.Add(1)) + 6, want })
					if v != 7 || err != want {
						t.Errorf("%d, %v", v, err)
					}
					return nil
				})
			})
		}
		all.Wait()
		if calls.Load() != 1 {
			t.Errorf("it was computed %d times", calls.Load())
		}
	}
}
