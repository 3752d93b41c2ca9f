package largepages

import (
	"runtime"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ask asks for large pages for a new slice of at least Size bytes, and returns it. The system fills a page when its first byte is used,
// so a slice may take almost a page more than is used of it.
func Ask[T any](s []T) []T {
	size := uintptr(cap(s)) * unsafe.Sizeof(*new(T))
	p := unsafe.Pointer(unsafe.SliceData(s))
	if skip := -uintptr(p) & (Size - 1); size >= skip+Size {
		_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), (size-skip)&^(Size-1)), unix.MADV_HUGEPAGE)
	}
	return s
}

// AskForHeap asks for large pages for the next n bytes by which the heap grows, where AskForMany would. The heap should be small.
func AskForHeap(n int) {
	if runtime.GOMAXPROCS(0) < leastThreads {
		return
	}
	room, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return // so make would end the program
	}
	unix.Munmap(room)
	Ask(Uncleared(n))
	debug.FreeOSMemory() // the heap keeps the addresses, and what was asked for
}
