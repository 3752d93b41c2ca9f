// Package prefetch loads memory into a processor's cache before it is used. It changes nothing but speed.
package prefetch

import "unsafe"

// Line begins to load what is at p into the cache, and does not wait for it.
//
//go:noescape
func Line(p unsafe.Pointer)
