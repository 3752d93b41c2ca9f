//go:build !amd64

package prefetch

import "unsafe"

// Line does nothing here.
func Line(unsafe.Pointer) {}
