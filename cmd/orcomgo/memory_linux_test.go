package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestAllowedMemory(t *testing.T) {
	const (
		meminfo = "MemFree:         1000 kB\nMemTotal:        4096 kB\nSwapTotal:       9 kB\n"
		mounts  = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	)
	for _, c := range []struct {
		name, meminfo, limit string
		want                 uint64
	}{
		{"the machine's", meminfo, "max\n", 4 << 20},
		{"the group's", meminfo, "1048576\n", 1 << 20},
		{"a group that may have more than there is", meminfo, "9223372036854771712\n", 4 << 20},
		{"unknown machine", "MemTotal: many\n", "max\n", 8 << 30},
		{"unknown machine, known group", "", "1048576\n", 1 << 20},
	} {
		root := writeTree(t, map[string]string{
			"proc/meminfo": c.meminfo, "proc/self/cgroup": "0::/job\n", "proc/self/mountinfo": mounts, "sys/fs/cgroup/job/memory.max": c.limit})
		if got := allowedMemory(root); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func init() {
	programs["allowedmemory"] = func() { fmt.Print(allowedMemory("/")) }
}

// Under ulimit -v and ulimit -d there is no more memory than they leave, and the program
// works with its default.
func TestResourceLimits(t *testing.T) {
	for _, flag := range []string{"-v", "-d"} {
		t.Run(flag, func(t *testing.T) {
			limited := func(mib int, program string, args ...string) string {
				t.Helper()
				script := fmt.Sprintf(`ulimit %s %d && exec "$0" "$@"`, flag, mib<<10)
				got, err := exec.Command("sh", append([]string{"-c", script, playedBy(t, program)}, args...)...).CombinedOutput()
				if err != nil {
					t.Fatalf("%s %s: %v: %.500s", program, strings.Join(args, " "), err, got)
				}
				return string(got)
			}
			for _, mib := range []int{2_000, 3_000} {
				got, err := strconv.Atoi(limited(mib, "allowedmemory"))
				if least := mib - 1_700; err != nil || got > mib<<20 || got < least<<20 {
					t.Errorf("%d bytes of %d MiB, %v", got, mib, err)
				}
			}
			out := filepath.Join(t.TempDir(), "out")
			limited(2_300, "orcomgo", "bin", "-q", input, out)
			limited(2_300, "orcomgo", "pack", "-q", out)
			limited(2_300, "orcomgo", "verify", "-q", out)
		})
	}
}
