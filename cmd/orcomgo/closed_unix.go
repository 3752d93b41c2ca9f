//go:build unix

package main

import (
	"os"

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
