package overlap

import "unsafe"

// prefetch asks the processor to bring two lines to the cache. Unlike a load it holds nothing up until they are there.
//
//go:noescape
func prefetch(a, b unsafe.Pointer)
