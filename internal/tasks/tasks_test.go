package tasks

import (
	"sync/atomic"
	"testing"
)

func TestEach(t *testing.T) {
	for _, c := range []struct{ n, threads int }{{0, 4}, {1, 4}, {5, 0}, {5, 1}, {5, 3}, {1000, 7}} {
		calls := make([]atomic.Int32, c.n)
		Each(c.n, c.threads, func(worker, i int) {
			if worker < 0 || worker >= max(1, c.threads) {
				t.Errorf("%+v: worker %d", c, worker)
			}
			calls[i].Add(1)
		})
		for i := range calls {
			if k := calls[i].Load(); k != 1 {
				t.Errorf("%+v: f was called %d times for %d", c, k, i)
			}
		}
	}
}

func TestEachWorker(t *testing.T) {
	var workers atomic.Int32
	sums := make([]int, 3) // of each worker
	EachWorker(100, len(sums), func(worker int) func(i int) {
		workers.Add(1)
		return func(i int) { sums[worker] += i }
	})
	if workers.Load() != 3 || sums[0]+sums[1]+sums[2] != 99*100/2 {
		t.Errorf("%d workers have the sums %v", workers.Load(), sums)
	}
}
