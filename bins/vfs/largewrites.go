package vfs

import (
	"sync"
	"time"
)

// largeWrites decides for how many large pages of a file the system is asked at a time. It is asked for one first, and not again once it
// refused, or took long: each call waits for all processors, and where free memory is in small pieces, pages are put together by moving
// others. Its zero value is ready for use by several goroutines.
type largeWrites struct {
	mu    sync.Mutex
	state largeState
}

type largeState uint8

const (
	largeUntried largeState = iota
	largeTrying             // a goroutine has asked for the first page
	largeUsed
	largeRefused
)

// A call should take no longer than slowCall, and slowPage for each page. One page usually takes 0.3 to 0.7 ms.
const (
	slowCall = 10 * time.Millisecond
	slowPage = 5 * time.Millisecond
)

// allow returns for how many of n pages, at least one, to ask now. Unless it is 0, done must be called.
func (l *largeWrites) allow(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.state {
	case largeUntried:
		l.state = largeTrying
		return 1
	case largeUsed:
		return n
	}
	return 0
}

// done says how asking for so many pages went.
func (l *largeWrites) done(pages int, given bool, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !given || took > slowCall+time.Duration(pages)*slowPage:
		l.state = largeRefused
	case l.state == largeTrying:
		l.state = largeUsed
	}
}
