package main

import (
	"os"
	"strconv"
	"strings"
)

// machineMemory returns how many bytes of memory there are, as far as the process's
// control group lets it use them.
func machineMemory() uint64 {
	memory := uint64(8 << 30)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for _, line := range strings.Split(string(text), "\n") {
			if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "MemTotal:" {
				if kib, err := strconv.ParseUint(fields[1], 10, 50); err == nil {
					memory = kib << 10
				}
			}
		}
	}
	for _, limit := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(limit); err == nil {
			if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
				memory = min(memory, n)
			}
		}
	}
	return memory
}
