package main

import (
	"fmt"
	"os"
	"strings"
)

const selfStatus = "/proc/self/status"

// statusBytes returns a field of a file in /proc, such as VmHWM of selfStatus, in bytes, and whether the system has it, as Linux does.
func statusBytes(path, field string) (bytes uint64, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(string(text), field+":")
	if !ok {
		return 0, false
	}
	var kib uint64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0, false
	}
	return kib << 10, true
}
