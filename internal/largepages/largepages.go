// Package largepages asks the system for pages of 2 MiB where many bytes are read and written in no order, since a processor remembers
// the places of few pages, or where many are used for the first time. That is a hint, which
// changes nothing but speed. Uncleared reserves memory that is not cleared.
package largepages

import (
	"runtime"
	"unsafe"
)

// Size is the size of a large page, in bytes.
const Size = 2 << 20

// Make returns a slice of n zero elements, which begins with a large page if it takes one or more.
func Make[T any](n int) []T {
	element := int(unsafe.Sizeof(*new(T)))
	if n*element < Size {
		return make([]T, n)
	}
	more := Size / element
	s := make([]T, n+more)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(s)))&(Size-1)) / element
	return Ask(s[skip : skip+n : skip+n])
}

// least and leastThreads are from how many bytes and from how many threads on AskForMany asks.
const (
	least        = 8 * Size
	leastThreads = 8
)

// AskForMany is Ask, where large pages are worth while for memory that many threads use for the first time: making them takes less than a
// third of the time that small pages take, and freeing them, which one thread does while the process ends, hardly any. A slice of few
// bytes would take much more than it uses. With few threads it matters little, and a virtual machine may have small pages at hand and
// get large ones from its host anew.
func AskForMany[T any](s []T) []T {
	if cap(s)*int(unsafe.Sizeof(*new(T))) < least || runtime.GOMAXPROCS(0) < leastThreads {
		return s
	}
	return Ask(s)
}
