package bwt

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePage = 2 << 20

// hugeSlice is make of a slice that is read and written in no order: large ones get large pages, since the processor remembers the
// places of few pages.
func hugeSlice[T any](n int) []T {
	s := make([]T, n)
	size := uintptr(n) * unsafe.Sizeof(*new(T))
	if size >= 4*hugePage {
		p := unsafe.Pointer(unsafe.SliceData(s))
		skip := -uintptr(p) & (hugePage - 1)
		// Large pages are only a matter of speed.
		_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), (size-skip)&^(hugePage-1)), unix.MADV_HUGEPAGE)
	}
	return s
}
