//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// peakMemory returns the most memory in bytes that the process had resident, 0 if unknown.
func peakMemory() uint64 {
	// Getrusage counts what the process that started this one had resident, too, on Linux.
	if peak, ok := statusBytes("VmHWM"); ok {
		return peak
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return uint64(u.Maxrss)
	}
	return uint64(u.Maxrss) << 10
}
