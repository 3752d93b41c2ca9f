//go:build unix

package inflate

import "syscall"

// cpuTime returns the processor time of the process in nanoseconds.
func cpuTime() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}
