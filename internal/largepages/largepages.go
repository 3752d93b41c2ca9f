// Package largepages asks the system for pages of 2 MiB where many bytes are read and written in no order, since a processor remembers
// the places of few pages, or where many are used for the first time. It is a hint: it changes nothing but speed.
package largepages

import "unsafe"

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
