package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// inMemory reports whether the file's content is in memory, and nowhere else.
func inMemory(f *os.File) bool {
	var s unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &s) == nil && s.Type == unix.TMPFS_MAGIC
}

// allocate makes the pages of n bytes of the file from an offset on, which may be behind its end.
func allocate(f *os.File, at, n int64) error {
	// A signal, which the runtime uses to stop goroutines, makes a call fail and loses what it has done so far.
	const step = 4 << 20
	for end := at + n; at < end; {
		err := unix.Fallocate(int(f.Fd()), 0, at, min(step, end-at))
		switch err {
		case nil:
			at += step
		case unix.EINTR:
		case unix.EOPNOTSUPP, unix.ENOSYS:
			return unsupported(err)
		default:
			return err
		}
	}
	return nil
}

// copyToFile copies p to pages of the file that are there.
func copyToFile(f *os.File, p []byte, at int64) error {
	skip := int(at % int64(os.Getpagesize()))
	m, err := unix.Mmap(int(f.Fd()), at-int64(skip), skip+len(p), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return unsupported(err) // such as a limit on address space
	}
	defer unix.Munmap(m)
	_ = unix.Madvise(m, unix.MADV_POPULATE_WRITE) // one call instead of a fault for each page; older kernels don't have it
	copy(m[skip:], p)
	return nil
}
