package vfs

import (
	"strings"

	"golang.org/x/sys/unix"
)

// HasAttributes reports whether a file or directory has extended attributes or an ACL, besides a label of SELinux, which the system gives.
// A symbolic link is not followed. It reports false where the system can't say.
func HasAttributes(path string) bool {
	n, err := unix.Llistxattr(path, nil)
	if err != nil || n == 0 {
		return false
	}
	list := make([]byte, n)
	if n, err = unix.Llistxattr(path, list); err != nil {
		return false
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list[:n]), "\x00"), "\x00") {
		if name != "security.selinux" {
			return true
		}
	}
	return false
}
