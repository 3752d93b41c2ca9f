//go:build !unix

package inflate

import "time"

var started = time.Now()

// cpuTime returns the time since the start: the best substitute for the processor time where that isn't known.
func cpuTime() int64 { return int64(time.Since(started)) }
