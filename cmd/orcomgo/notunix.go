//go:build !unix

package main

import (
	"errors"
	"runtime"
)

// execProgram fails where a process can't be replaced.
func execProgram(string, []string) error {
	return errors.New("starting the program for GPUs needs a Unix system")
}

// closedAtStart is false where a closed descriptor gives an error when it is used.
func closedAtStart(int) bool { return false }

// peakMemory returns the memory in bytes that the Go runtime took from the system.
func peakMemory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
