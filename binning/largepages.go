package binning

import (
	"runtime"
	"unsafe"

	"orcomgo/internal/largepages"
)

const (
	// minLarge is from how many bytes on a slice gets large pages. It may take almost a page more than is used of it: an eighth at most.
	minLarge = 8 * largepages.Size
	// minLargeThreads is from how many threads on slices get large pages. With fewer it matters little that one thread
	// frees all pages at the end, and a virtual machine may have small pages at hand and get large ones from its host anew.
	minLargeThreads = 8
)

// inLargePages asks the system to give a new slice pages of 2 MiB. Making them takes less than a third of the time that
// small pages take, and freeing them, which one thread does while the process ends, hardly any.
func inLargePages[T any](s []T) []T {
	if cap(s)*int(unsafe.Sizeof(*new(T))) < minLarge || runtime.GOMAXPROCS(0) < minLargeThreads {
		return s
	}
	return largepages.Ask(s)
}
