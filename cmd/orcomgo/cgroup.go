package main

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cgroupMemory returns the least memory limit, in bytes, of the control groups that the
// process is in, from its own up to the root of what it can see: a job's limit is often set
// on a parent of the group that its processes are in. math.MaxUint64 is no limit. Files are
// read under root, which is / but in tests. Version 1 and 2 and both at once are read, as
// /proc/self/cgroup and /proc/self/mountinfo name them; what is missing or makes no sense is
// no limit. See cgroups(7) and the kernel's admin-guide/cgroup-v2.
//
// This is own code because github.com/KimMachineGun/automemlimit (1.0.1) does not read
// memory.high, above which the kernel slows a process down, and can't read below another root.
func cgroupMemory(root string) uint64 {
	limit := uint64(math.MaxUint64)
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return limit
	}
	mounts, err := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil {
		return limit
	}
	for line := range strings.Lines(string(groups)) {
		// hierarchy:controllers:path; a path may hold colons
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		h := hierarchy{group: f[2]}
		switch {
		case f[0] == "0" && f[1] == "":
			h.fsType, h.limits = "cgroup2", []string{"memory.max", "memory.high"}
		case slices.Contains(strings.Split(f[1], ","), "memory"):
			h.fsType, h.option, h.limits = "cgroup", "memory", []string{"memory.limit_in_bytes"}
		default:
			continue
		}
		for mount := range strings.Lines(string(mounts)) {
			limit = min(limit, h.limit(root, mount))
		}
	}
	return limit
}

// hierarchy is a tree of control groups that may limit memory.
type hierarchy struct {
	group  string   // path of the process's group, as the process sees it
	fsType string   // of its mounts
	option string   // of its mounts' file system, or ""
	limits []string // files with a limit in a group's directory
}

// limit returns the least limit that a mount of the hierarchy shows; any other mount shows
// none. The argument is a line of mountinfo.
func (h *hierarchy) limit(root, mount string) uint64 {
	limit := uint64(math.MaxUint64)
	before, after, ok := strings.Cut(strings.TrimSuffix(mount, "\n"), " - ")
	f, g := strings.Fields(before), strings.Fields(after)
	if !ok || len(f) < 5 || len(g) < 1 || g[0] != h.fsType {
		return limit
	}
	if h.option != "" && (len(g) < 3 || !slices.Contains(strings.Split(g[2], ","), h.option)) {
		return limit
	}
	below, ok := h.below(unescape(f[3]))
	if !ok {
		return limit
	}
	top := filepath.Join(root, unescape(f[4]))
	for dir := below; ; dir = path.Dir(dir) {
		for _, name := range h.limits {
			if text, err := os.ReadFile(filepath.Join(top, dir, name)); err == nil {
				limit = min(limit, limitOf(string(text)))
			}
		}
		if h.fsType == "cgroup" {
			// includes the limits of parents that the mount does not show
			if text, err := os.ReadFile(filepath.Join(top, dir, "memory.stat")); err == nil {
				for line := range strings.Lines(string(text)) {
					if value, ok := strings.CutPrefix(line, "hierarchical_memory_limit "); ok {
						limit = min(limit, limitOf(value))
					}
				}
			}
		}
		if dir == "/" {
			return limit
		}
	}
}

// below returns the path of the process's group from the root of a mount, beginning with /.
// It fails if the mount does not show that group. A mount made outside the process's cgroup
// namespace may have a root above that namespace's, such as /../..: then the names in between
// are not known, and the path is that of the mount's own root, a parent of the group.
func (h *hierarchy) below(mountRoot string) (string, bool) {
	group, above := h.group, strings.Trim(mountRoot, "/")
	if above != "" && strings.Trim(above, "./") == "" && !strings.HasPrefix(group, "/..") {
		return "/", true
	}
	rest, ok := strings.CutPrefix(group, strings.TrimSuffix(mountRoot, "/"))
	if !ok || rest != "" && rest[0] != '/' || strings.Contains(rest+"/", "/../") {
		return "", false
	}
	return path.Clean("/" + rest), true
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

// unescape undoes mountinfo's way to write a space, a tab, a newline and a backslash.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
