//go:build (amd64 || arm64) && !race && !inflate_checked

package inflate

import "unsafe"

// The loops of the decoder check once per symbol that there is room, so that loads and
// stores need no check of their own. Builds with the race detector, or the build tag
// inflate_checked, use load_checked.go, where an access out of bounds panics.

func load64(b []byte, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

func store64(b []byte, i int, v uint64) {
	*(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i)) = v
}

func store32(b []byte, i int, v uint32) {
	*(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i)) = v
}
