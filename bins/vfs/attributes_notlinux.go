//go:build !linux

package vfs

// HasAttributes reports whether a file or directory has extended attributes or an ACL. Here it always reports false.
func HasAttributes(path string) bool { return false }
