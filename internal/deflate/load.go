//go:build (amd64 || arm64) && !race && !inflate_checked

package deflate

import "unsafe"

// Loads and stores of several bytes without a check: loops that decode or compare see once that there is room for all of them. Builds with
// the race detector, or the build tag inflate_checked, use load_checked.go, where an access out of bounds panics.

// Load32 returns four bytes at a place.
func Load32(b []byte, i int) uint32 {
	return *(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

// Load64 returns eight bytes at a place.
func Load64(b []byte, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

// Store64 stores eight bytes at a place.
func Store64(b []byte, i int, v uint64) {
	*(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i)) = v
}

// Store32 stores four bytes at a place.
func Store32(b []byte, i int, v uint32) {
	*(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i)) = v
}
