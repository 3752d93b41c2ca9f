package main

import (
	"fmt"
	"os"
	"strings"
)

// statusBytes returns a field of /proc/self/status, such as VmHWM, in bytes, and whether the system has it, as Linux does.
func statusBytes(field string) (bytes uint64, ok bool) {
	text, err := os.ReadFile("/proc/self/status")
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
