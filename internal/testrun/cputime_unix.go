//go:build unix

package testrun

import (
	"syscall"
	"time"
)

// CPUTime returns the processor time that the process has used so far.
func CPUTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
