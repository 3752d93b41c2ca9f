//go:build (amd64 || arm64) && !race

package gzexact

import "unsafe"

// Texts have padBytes behind what is compared, so loads of a place in them need no check. Builds with the race detector use
// load_checked.go, where a load out of bounds panics.

func load32(b []byte, i int) uint32 {
	return *(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

func load64(b []byte, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}
