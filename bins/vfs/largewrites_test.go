package vfs

import (
	"testing"
	"time"
)

// TestLargeWrites: one page is asked for first, and nothing more once the system refused or took long.
func TestLargeWrites(t *testing.T) {
	const short = time.Millisecond
	type step struct {
		pages   int
		allowed int
		given   bool
		took    time.Duration
	}
	for name, steps := range map[string][]step{
		"given":        {{4, 1, true, short}, {3, 3, true, short}, {4, 4, true, short}},
		"refused":      {{4, 1, false, short}, {3, 0, false, 0}},
		"slow":         {{4, 1, true, slowCall + 2*slowPage}, {3, 0, false, 0}},
		"slow later":   {{4, 1, true, short}, {4, 4, true, slowCall + 4*slowPage}, {2, 2, true, slowCall + 3*slowPage}, {1, 0, false, 0}},
		"refuse later": {{1, 1, true, short}, {4, 4, false, short}, {1, 0, false, 0}},
	} {
		var l largeWrites
		for i, s := range steps {
			if got := l.allow(s.pages); got != s.allowed {
				t.Errorf("%s, step %d: %d pages, want %d", name, i, got, s.allowed)
			} else if got > 0 {
				l.done(got, s.given, s.took)
			}
		}
	}
	var l largeWrites
	if l.allow(2) != 1 || l.allow(2) != 0 {
		t.Error("others ask while the first page is asked for")
	}
	// A call that began before another one was refused does not end that.
	l.done(1, true, short)
	first, second := l.allow(2), l.allow(2)
	l.done(first, false, short)
	l.done(second, true, short)
	if n := l.allow(1); n != 0 {
		t.Errorf("%d pages after one was refused", n)
	}
}
