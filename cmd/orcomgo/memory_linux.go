package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// allowedMemory returns how many bytes of memory the process may use: those of the machine,
// or fewer if its control groups or its resource limits (ulimit -v, ulimit -d; batch systems
// set them) say so. Files are read under root, which is / but in tests.
func allowedMemory(root string) uint64 {
	memory := min(installedMemory(root), cgroupMemory(root))
	size, data := addressSpace(root)
	for _, l := range []struct {
		which int
		used  uint64
	}{{syscall.RLIMIT_AS, size}, {syscall.RLIMIT_DATA, data}} {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(l.which, &limit); err == nil {
			memory = min(memory, limit.Cur-min(limit.Cur, l.used))
		}
	}
	return memory
}

// addressSpace returns how many bytes of address space the process has taken already, and
// how many of them are data: Go reserves more than a gigabyte before it uses any, which counts
// for ulimit -v.
func addressSpace(root string) (size, data uint64) {
	text, err := os.ReadFile(filepath.Join(root, "proc/self/statm"))
	if f := strings.Fields(string(text)); err == nil && len(f) == 7 {
		size, _ = strconv.ParseUint(f[0], 10, 40)
		data, _ = strconv.ParseUint(f[5], 10, 40)
	}
	page := uint64(os.Getpagesize())
	return size * page, data * page
}

// installedMemory returns the machine's memory in bytes, or 8 GiB if that can't be found out.
func installedMemory(root string) uint64 {
	if n, _ := statusBytes(filepath.Join(root, "proc/meminfo"), "MemTotal"); n > 0 {
		return n
	}
	return 8 << 30
}
