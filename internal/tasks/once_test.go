package tasks

import (
	"fmt"
	"testing"
)

// TestCache: a value is there until it is dropped, by whoever has it, after its last use, or with the oldest.
func TestCache(t *testing.T) {
	var c Cache[string, int]
	made := 0
	wait := func(done <-chan struct{}) error {
		<-done
		return nil
	}
	get := func(key string) int {
		v, _ := c.Get(key, wait, func() (int, error) { made++; return made, nil })
		return v
	}
	c.Expect("a")
	c.Expect("a")
	for range 2 {
		if got := get("a"); got != 1 {
			t.Errorf("it was computed %d times", got)
		}
	}
	if c.Release("a") || get("a") != 1 {
		t.Error("it was dropped before its last use")
	}
	if !c.Release("a") || c.Has("a") {
		t.Error("it is there after its last use")
	}
	get("a")
	c.Drop("b")
	if c.Drop("a"); c.Has("a") || get("a") != 3 {
		t.Error("it was not dropped")
	}
	var order []string
	get("b")
	c.Get("outer", nil, func() (int, error) { return get("a") + 10, nil }) // in which another one is got
	c.Shrink(func(age, v int) bool {
		order = append(order, fmt.Sprint(age, " ", v))
		return age > 0
	})
	if fmt.Sprint(order) != "[0 13 1 3 2 4]" || !c.Has("outer") || c.Has("a") || c.Has("b") {
		t.Errorf("by age: %v", order)
	}
}
