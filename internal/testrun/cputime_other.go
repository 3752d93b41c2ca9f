//go:build !unix

package testrun

import "time"

var started = time.Now()

// CPUTime returns the time since the start: the best substitute for the processor time where that isn't known.
func CPUTime() time.Duration { return time.Since(started) }
