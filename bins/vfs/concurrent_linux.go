package vfs

import (
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"orcomgo/internal/largepages"
)

const (
	// mappedAtOnce is how many bytes of a file are mapped at a time, in large pages. They count as memory of the process.
	mappedAtOnce = 4 * largepages.Size
	// populatedAtOnce is how many bytes of a mapping get memory at a time. The cache still has it when it is written to.
	populatedAtOnce = 512 << 10
	// slowCall is how long making the large pages of a mapping may take. One page usually takes 0.3 to 0.7 ms.
	slowCall = 25 * time.Millisecond
)

// canMapWrites reports whether f can be written to by mappings: its content is in memory only, its size is not limited, and the system
// says where there is no memory for a mapping.
func canMapWrites(f *os.File) bool {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil || fs.Type != unix.TMPFS_MAGIC {
		return false
	}
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil && limit.Cur == unix.RLIM_INFINITY && followsAdvice()
}

// followsAdvice reports whether madvise does what it returns success for. An emulator such as qemu accepts any advice and follows none:
// where a file system is full, writing to a mapping would end the process.
var followsAdvice = sync.OnceValue(func() bool {
	const unknownAdvice = 1 << 20
	m, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return false
	}
	defer unix.Munmap(m)
	return madvise(m, unknownAdvice) != nil
})

// copyToMapping copies p to offset at of the file, which must not end before p does. It returns false if there is not enough room, or if
// the system can't say so: then writing to the mapping would end the process. Large pages that lie within p are asked for
// until few is set.
func copyToMapping(f *os.File, p []byte, at int64, few *atomic.Bool) bool {
	w, err := newWindow()
	if err != nil {
		return false
	}
	defer w.free()
	for len(p) > 0 {
		n := min(len(p), mappedAtOnce-int(at%largepages.Size))
		m, skip, err := w.show(f, at, n)
		if err != nil {
			return false
		}
		if !copyToPages(m, p[:n], skip, at, few) {
			return false
		}
		p, at = p[n:], at+int64(n)
	}
	return true
}

// window is a range of addresses through which parts of a file are written. A large page of a file can only be mapped to an address
// that is a multiple of its size.
type window struct {
	reserved unsafe.Pointer
	begin    unsafe.Pointer // the first such address
}

const windowSize = mappedAtOnce + largepages.Size

func newWindow() (w window, err error) {
	w.reserved, err = unix.MmapPtr(-1, 0, nil, windowSize, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	w.begin = unsafe.Add(w.reserved, -uintptr(w.reserved)&(largepages.Size-1))
	return w, err
}

func (w window) free() { unix.MunmapPtr(w.reserved, windowSize) }

// show maps n bytes of the file from offset at on. They begin at byte skip of what it returns, which is valid until the next call.
func (w window) show(f *os.File, at int64, n int) (mapping []byte, skip int, err error) {
	skip = int(at % int64(os.Getpagesize()))
	first := unsafe.Add(w.begin, (at-int64(skip))%largepages.Size)
	m, err := unix.MmapPtr(int(f.Fd()), at-int64(skip), first, uintptr(skip+n), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_FIXED)
	if err != nil {
		return nil, 0, err
	}
	return unsafe.Slice((*byte)(m), skip+n), skip, nil
}

// copyToPages copies p to byte skip of a mapping, which is at an offset of the file. Large pages that p fills are asked for.
func copyToPages(mapping, p []byte, skip int, offset int64, few *atomic.Bool) bool {
	// A large page that p fills in part would also be that of another goroutine.
	from := skip + int(-offset&(largepages.Size-1))
	to := skip + len(p) - int((offset+int64(len(p)))%largepages.Size)
	if from < to && !few.Load() {
		begin := time.Now()
		err := makeLarge(mapping[from:to])
		if err != nil && err != unix.EAGAIN || time.Since(begin) > slowCall {
			few.Store(true)
		}
	}
	return copyPopulated(mapping, p, skip)
}

// makeLarge gives a mapping, which consists of whole large pages of a file without content, such pages. Where that fails there is no
// room, or the system has no such pages to give. It is EAGAIN where another try might do.
func makeLarge(mapping []byte) error {
	for at := 0; at < len(mapping); at += largepages.Size { // the system takes a page without any content for one that was cut off
		if err := madvise(mapping[at:at+os.Getpagesize()], unix.MADV_POPULATE_WRITE); err != nil {
			return err
		}
	}
	return madvise(mapping, unix.MADV_COLLAPSE)
}

// copyPopulated copies p to byte at of a mapping. It first has the system give the mapping its memory, which fails where there is none.
func copyPopulated(mapping, p []byte, at int) bool {
	for from := 0; from < len(mapping); from += populatedAtOnce {
		to := min(from+populatedAtOnce, len(mapping))
		if madvise(mapping[from:to], unix.MADV_POPULATE_WRITE) != nil {
			return false
		}
		begin := max(from, at)
		copy(mapping[begin:to], p[begin-at:])
	}
	return true
}

// madvise is unix.Madvise, again where a signal ended it.
func madvise(mapping []byte, advice int) error {
	for {
		if err := unix.Madvise(mapping, advice); err != unix.EINTR {
			return err
		}
	}
}
