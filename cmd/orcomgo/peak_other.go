//go:build !unix

package main

import (
	"runtime"
	"time"
)

// peakMemory returns the memory in bytes that the Go runtime took from the system.
func peakMemory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}

// cpuTime returns how long the threads of the process have run: that is unknown.
func cpuTime() time.Duration { return 0 }
