package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	// mappedAtOnce is how many bytes of a file are mapped at a time. They count as memory of the process.
	mappedAtOnce = 4 << 20
	// populatedAtOnce is how many bytes of a mapping get memory at a time. The cache still has it when it is written to.
	populatedAtOnce = 512 << 10
)

// canMapWrites reports whether f can be written to by mappings: its content is in memory only, and its size is not limited.
func canMapWrites(f *os.File) bool {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil || fs.Type != unix.TMPFS_MAGIC {
		return false
	}
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil && limit.Cur == unix.RLIM_INFINITY
}

// copyToMapping copies p to offset at of the file, which must not end before p does. It returns false if there is not enough room, or if
// the system can't say so: then writing to the mapping would end the process.
func copyToMapping(f *os.File, p []byte, at int64) bool {
	page := int64(os.Getpagesize())
	for len(p) > 0 {
		skip := int(at % page)
		n := min(len(p), mappedAtOnce-skip)
		m, err := unix.Mmap(int(f.Fd()), at-int64(skip), skip+n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return false
		}
		done := copyPopulated(m, p[:n], skip)
		unix.Munmap(m)
		if !done {
			return false
		}
		p, at = p[n:], at+int64(n)
	}
	return true
}

// copyPopulated copies p to byte at of a mapping. It first has the system give the mapping its memory, which fails where there is none.
func copyPopulated(mapping, p []byte, at int) bool {
	for from := 0; from < len(mapping); from += populatedAtOnce {
		to := min(from+populatedAtOnce, len(mapping))
		err := unix.Madvise(mapping[from:to], unix.MADV_POPULATE_WRITE)
		for err == unix.EINTR {
			err = unix.Madvise(mapping[from:to], unix.MADV_POPULATE_WRITE)
		}
		if err != nil {
			return false
		}
		begin := max(from, at)
		copy(mapping[begin:to], p[begin-at:])
	}
	return true
}
