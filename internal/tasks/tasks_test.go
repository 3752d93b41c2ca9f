package tasks

import (
	"runtime"
	"runtime/debug"
	"sync"
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

// fault is a panic as the one of a fault.
type fault struct{ error }

func (fault) Addr() uintptr { return 1 }

// TestFault: a fault of any goroutine is a panic of the calling one, if that has asked for panics.
func TestFault(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for bad := range 4 {
		var here sync.WaitGroup // all goroutines take part
		here.Add(4)
		got := func() (cause any) {
			defer func() { cause = recover() }()
			Each(4, 4, func(_, i int) {
				here.Done()
				here.Wait()
				if i == bad {
					panic(fault{})
				}
			})
			return nil
		}()
		if got != (fault{}) {
			t.Errorf("%d: %v", bad, got)
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

// TestPool: all calls are made once, also nested ones, and no more at a time than there are places and callers.
func TestPool(t *testing.T) {
	for _, places := range []int{0, 1, 5} {
		p := NewPool(places)
		var working, most, calls atomic.Int32
		p.Each(10, func(int) {
			p.Each(20, func(int) {
				now := working.Add(1)
				for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
				}
				runtime.Gosched()
				calls.Add(1)
				working.Add(-1)
			})
		})
		if calls.Load() != 200 || int(most.Load()) > places+1 {
			t.Errorf("%d places: %d calls, %d at a time", places, calls.Load(), most.Load())
		}
		if len(p.places) != 0 {
			t.Errorf("%d places are taken", len(p.places))
		}
	}
	n := 0
	(*Pool)(nil).Each(3, func(i int) { n += i })
	if n != 3 {
		t.Errorf("without a pool the sum is %d", n)
	}
}

// TestPoolHelps: calls are made in a place that becomes free while others are under way.
func TestPoolHelps(t *testing.T) {
	p := NewPool(1)
	p.Enter()
	both := make(chan struct{})
	p.Each(3, func(i int) {
		switch i {
		case 0:
			p.Leave()
		case 1:
			<-both // of call 2, which another goroutine makes
		case 2:
			close(both)
		}
	})
}
