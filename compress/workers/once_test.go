package workers

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// TestOnce: of many goroutines one computes, and all get what it returned, also an error.
func TestOnce(t *testing.T) {
	failed := errors.New("failed")
	for _, want := range []error{nil, failed} {
		o := NewOnce[int]()
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

// TestCache: a value is there until it is dropped, by whoever has it, after its last use, or with the oldest.
func TestCache(t *testing.T) {
	var c Cache[string, int]
	made := 0
	get := func(key string) int {
		v, _ := c.Of(key).Get(NewPool(1).WaitOutside, func() (int, error) { made++; return made, nil })
		return v
	}
	c.Expect("a")
	c.Expect("a")
	if get("a") != 1 || get("a") != 1 {
		t.Error("it was computed twice")
	}
	if c.Release("a"); get("a") != 1 {
		t.Error("it was dropped before its last use")
	}
	if c.Release("a"); c.Has("a") {
		t.Error("it is there after its last use")
	}
	old := c.Of("a")
	get("a")
	c.Drop("a", old)
	if c.Drop("b", old); c.Has("a") || get("a") != 3 {
		t.Error("it was not dropped")
	}
	if c.Drop("a", old); !c.Has("a") {
		t.Error("another one was dropped")
	}
	c.Of("not computed")
	get("b")
	get("a")
	var order []string
	c.Shrink(func(age, v int) bool {
		order = append(order, fmt.Sprint(age, " ", v))
		return age > 0
	})
	if fmt.Sprint(order) != "[0 3 1 4]" || !c.Has("a") || c.Has("b") || !c.Has("not computed") {
		t.Errorf("by age: %v", order)
	}
}
