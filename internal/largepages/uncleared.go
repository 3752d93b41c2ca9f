package largepages

import (
	"strings"
	"unsafe"
)

// Uncleared returns n bytes of any value. make would write zeros to all of them if any page of them was in use before, so that the system
// would hand out memory for all of them, and a caller may need only a quarter. A strings.Builder does not clear what it reserves.
func Uncleared(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0) // so that the string begins where the memory does
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}
