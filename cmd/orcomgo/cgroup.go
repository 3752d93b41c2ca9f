package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cgroupMemory returns the least memory limit, in bytes, of the control groups that the
// process is in, from its own up to the root of what it can see: a job's limit is often set
// on a parent of the group that its processes are in. math.MaxUint64 is no limit. Files are
// read under root, which is / but in tests. Version 1 and 2 and both at once are read, where
// systemd and container runtimes mount them; what is missing or makes no sense is no limit. See
// cgroups(7) and the kernel's admin-guide/cgroup-v2.
//
// This is own code because github.com/KimMachineGun/automemlimit (1.0.1) does not read
// memory.high, above which the kernel slows a process down, and can't read below another root.
func cgroupMemory(root string) uint64 {
	limit := uint64(math.MaxUint64)
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return limit
	}
	for line := range strings.Lines(string(groups)) {
		// hierarchy:controllers:path; a path may hold colons
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(f) != 3:
		case f[0] == "0" && f[1] == "":
			for _, mount := range []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"} {
				limit = min(limit, groupLimit(filepath.Join(root, mount), f[2], "memory.max", "memory.high"))
			}
		case slices.Contains(strings.Split(f[1], ","), "memory"):
			mount := filepath.Join(root, "sys/fs/cgroup/memory")
			limit = min(limit, groupLimit(mount, f[2], "memory.limit_in_bytes"))
			// In a container this includes the limits of parents that the mount does not show.
			text, _ := os.ReadFile(filepath.Join(mount, "memory.stat"))
			if _, value, ok := strings.Cut(string(text), "\nhierarchical_memory_limit "); ok {
				value, _, _ = strings.Cut(value, "\n")
				limit = min(limit, limitOf(value))
			}
		}
	}
	return limit
}

// groupLimit returns the least limit in files of these names of a group and of those above it. In a container the path of the group may
// be that of the host, and what is mounted may begin at any part of it, so all parts are tried.
func groupLimit(mount, group string, names ...string) uint64 {
	limit := uint64(math.MaxUint64)
	parts := strings.Split(strings.Trim(filepath.Clean("/"+group), "/"), "/")
	for from := range parts {
		for to := from; to <= len(parts); to++ {
			for _, name := range names {
				if text, err := os.ReadFile(filepath.Join(mount, filepath.Join(parts[from:to]...), name)); err == nil {
					limit = min(limit, limitOf(string(text)))
				}
			}
		}
	}
	return limit
}

// limitOf reads a limit: a number of bytes; max and what is no number are none. 0, which
// nothing could run under, is none either.
func limitOf(text string) uint64 {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil || n == 0 {
		return math.MaxUint64
	}
	return n
}
