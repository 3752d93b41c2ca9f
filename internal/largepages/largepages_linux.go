package largepages

import (
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
