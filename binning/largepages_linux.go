package binning

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	largePage = 2 << 20
	// minLarge is from how many bytes on a slice gets large pages. The system fills a page when its first byte is used,
	// so a slice may take almost a page more than is used of it: an eighth at most.
	minLarge = 8 * largePage
	// minLargeThreads is from how many threads on slices get large pages. With fewer it matters little that one thread
	// frees all pages at the end, and a virtual machine may have small pages at hand and get large ones from its host anew.
	minLargeThreads = 8
)

// inLargePages asks the system to give a new slice pages of 2 MiB. Making them takes less than a third of the time that
// small pages take, and freeing them, which one thread does while the process ends, hardly any. It is a hint.
func inLargePages[T any](s []T) []T {
	size := cap(s) * int(unsafe.Sizeof(*new(T)))
	if size < minLarge || runtime.GOMAXPROCS(0) < minLargeThreads {
		return s
	}
	p := unsafe.Pointer(unsafe.SliceData(s))
	skip := int(-uintptr(p) & (largePage - 1))
	unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), (size-skip)&^(largePage-1)), unix.MADV_HUGEPAGE)
	return s
}
