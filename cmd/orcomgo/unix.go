//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// closedAtStart reports whether a standard descriptor (0, 1 or 2) was closed when the program
// started, as far as that can be found out.
//
// Go opens /dev/null for each of the three that is closed, before any code of ours, so that
// no file gets its number; what is written there would vanish without an error. It opens it
// for reading and writing, and separately for each. Shells (>/dev/null), systemd, Go, Rust and
// Java open it for writing only, and programs that become a daemon open it once for all three:
// those are recognised here. The rest can't be distinguished by anything that the system shows
// (status flags, /proc/self/fdinfo, kcmp): Python's subprocess.DEVNULL for one stream only,
// Node's "ignore", and 1<>/dev/null. They count as closed: an error that one may have to work
// around does less harm than a status 0 for a result that was lost.
func closedAtStart(fd int) bool {
	if !nullForBoth(fd) {
		return false
	}
	for other := range 3 {
		if other != fd && nullForBoth(other) && sameOpenFile(fd, other) {
			return false
		}
	}
	return true
}

// nullForBoth reports whether a descriptor is /dev/null, open for reading and writing and
// with no other status flag.
func nullForBoth(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&(unix.O_ACCMODE|unix.O_APPEND|unix.O_NONBLOCK|unix.O_SYNC) != unix.O_RDWR {
		return false
	}
	var st, null unix.Stat_t
	if unix.Fstat(fd, &st) != nil || unix.Stat(os.DevNull, &null) != nil {
		return false
	}
	return st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == null.Rdev
}

// sameOpenFile reports whether two descriptors of /dev/null come from one open: then a status
// flag that is set through one shows in the other. Appending means nothing to /dev/null.
func sameOpenFile(a, b int) bool {
	flags, err := unix.FcntlInt(uintptr(a), unix.F_GETFL, 0)
	if err != nil {
		return false
	}
	if _, err := unix.FcntlInt(uintptr(a), unix.F_SETFL, flags|unix.O_APPEND); err != nil {
		return false
	}
	defer unix.FcntlInt(uintptr(a), unix.F_SETFL, flags)
	other, err := unix.FcntlInt(uintptr(b), unix.F_GETFL, 0)
	return err == nil && other&unix.O_APPEND != 0
}

// execProgram replaces the process by the program, with the same arguments and this environment. It
// returns only on failure.
func execProgram(program string, environment []string) error {
	return &os.PathError{Op: "exec", Path: program, Err: syscall.Exec(program, append([]string{program}, os.Args[1:]...), environment)}
}

// peakMemory returns the most memory in bytes that the process had resident, 0 if unknown.
func peakMemory() uint64 {
	// Getrusage counts what the process that started this one had resident, too, on Linux.
	if peak, ok := statusBytes(selfStatus, "VmHWM"); ok {
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
