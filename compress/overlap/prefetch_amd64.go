package overlap

import "unsafe"

// prefetch loads the cache lines of two addresses in the background, without waiting for them.
//
//go:noescape
func prefetch(a, b unsafe.Pointer)
