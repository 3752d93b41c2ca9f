package failover

import (
	"slices"
	"sync"
	"testing"
)

// TestState: each kind of line is noted once, from any goroutine.
func TestState(t *testing.T) {
	var lines []string // appended to without a lock: calls of note are one at a time
	s := New(func(line string) { lines = append(lines, line) })
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { s.Note("too large") })
	}
	group.Wait()
	if s.Failed() {
		t.Error("it failed by a note")
	}
	for range 8 {
		group.Go(func() { s.GiveUp("lost") })
	}
	group.Wait()
	if !s.Failed() || !slices.Equal(lines, []string{"too large", "lost"}) {
		t.Errorf("failed: %v, %q", s.Failed(), lines)
	}
	var silent State
	silent.GiveUp("lost")
	if !silent.Failed() {
		t.Error("without a note it did not fail")
	}
}
