package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// createUnnamed needs a file system with O_TMPFILE, and /proc to give the file a name later.
func createUnnamed(dir, path string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	switch err {
	case nil:
	case unix.EOPNOTSUPP, unix.EISDIR, unix.EINVAL, unix.ENOSYS:
		return nil, unsupported(err)
	default:
		return nil, err
	}
	if _, err := os.Stat(procPath(fd)); err != nil {
		unix.Close(fd)
		return nil, unsupported(Cause(err))
	}
	return os.NewFile(uintptr(fd), path), nil
}

func procPath(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

func linkUnnamed(f *os.File, path string) error {
	return unix.Linkat(unix.AT_FDCWD, procPath(int(f.Fd())), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
}

// setTime sets the time of a file that may have no name.
func setTime(f *os.File, path string, t time.Time) error {
	err := setTimeAt(procPath(int(f.Fd())), t, 0)
	if errors.Is(err, fs.ErrNotExist) { // no /proc: files have names
		err = setTimeAt(path, t, 0)
	}
	return err
}

func setPathTime(path string, t time.Time) error { return setTimeAt(path, t, 0) }

func setLinkTime(path string, t time.Time) error { return setTimeAt(path, t, unix.AT_SYMLINK_NOFOLLOW) }

// setTimeAt sets the time of the last modification. os.Chtimes counts nanoseconds in 64 bits, which end in 2262.
func setTimeAt(path string, t time.Time, flags int) error {
	ts, err := unix.TimeToTimespec(t)
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{{Nsec: unix.UTIME_OMIT}, ts}, flags)
}

// forget fails where the file system has no holes, or for no bytes; then all stays.
func forget(f *os.File, at, n int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, n)
}

func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	switch err {
	case unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP: // network file systems, old kernels
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return renameByLink(from, to)
	}
	return err
}

// HasAttributes reports whether a file or directory has extended attributes or an ACL, besides a label of SELinux, which the system gives.
// A symbolic link is not followed. It reports false where the system can't say.
func HasAttributes(path string) bool {
	n, err := unix.Llistxattr(path, nil)
	if err != nil || n == 0 {
		return false
	}
	list := make([]byte, n)
	if n, err = unix.Llistxattr(path, list); err != nil {
		return false
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list[:n]), "\x00"), "\x00") {
		if name != "security.selinux" {
			return true
		}
	}
	return false
}
