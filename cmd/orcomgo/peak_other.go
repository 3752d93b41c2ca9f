//go:build !unix

package main

import "runtime"

// peakMemory returns the memory in bytes that the Go runtime took from the system.
func peakMemory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
