//go:build !linux

package main

// allowedMemory returns an assumed amount of memory in bytes: there is no portable way to find out.
// --memory overrides it.
func allowedMemory(string) uint64 { return 8 << 30 }
