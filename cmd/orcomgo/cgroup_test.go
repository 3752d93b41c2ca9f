package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// writeTree writes files under a directory of its own and returns that.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestCgroupMemory(t *testing.T) {
	const (
		none   = math.MaxUint64
		v1Line = "9:name=systemd:/\n4:memory:/slurm/uid_7/job_42/step_0/task_0\n1:cpu,cpuacct:/other\n"
	)
	for _, c := range []struct {
		name   string
		group  string            // /proc/self/cgroup
		limits map[string]string // files of /sys/fs/cgroup
		want   uint64
	}{
		{"version 2", "0::/job\n", map[string]string{"job/memory.max": "1000\n"}, 1000},
		{"version 2, no limit", "0::/job\n", map[string]string{"job/memory.max": "max\n", "job/memory.high": "max\n"}, none},
		{"version 2, no files", "0::/job\n", nil, none},
		{"version 2, high is less", "0::/job\n", map[string]string{"job/memory.max": "1000\n", "job/memory.high": "900\n"}, 900},
		{"version 2, high is max", "0::/job\n", map[string]string{"job/memory.max": "1000\n", "job/memory.high": "max\n"}, 1000},
		{"version 2, the parent's is less", "0::/slurm/job_42/step_0\n",
			map[string]string{"slurm/job_42/step_0/memory.max": "5000\n", "slurm/job_42/memory.max": "700\n", "slurm/memory.max": "max\n"}, 700},
		{"version 2, the parent's high is least", "0::/a/b/c\n",
			map[string]string{"a/b/c/memory.max": "max\n", "a/b/memory.max": "700\n", "a/memory.high": "600\n"}, 600},
		{"version 2, container with its own namespace", "0::/\n", map[string]string{"memory.max": "800\n"}, 800},
		{"version 2, group that was removed", "0::/a/gone (deleted)\n", map[string]string{"a/memory.max": "800\n"}, 800},
		{"version 2, absurdly large", "0::/job\n", map[string]string{"job/memory.max": "99999999999999999999999999\n"}, none},
		{"version 2, no number", "0::/job\n", map[string]string{"job/memory.max": "much\n"}, none},
		{"version 2, empty file", "0::/job\n", map[string]string{"job/memory.max": ""}, none},
		{"version 2, zero", "0::/job\n", map[string]string{"job/memory.max": "0\n"}, none},
		{"version 2, another's limit", "0::/job\n", map[string]string{"job2/memory.max": "5\n", "job/sub/memory.max": "5\n"}, none},
		{"version 2, group with a colon", "0::/a:b\n", map[string]string{"a:b/memory.max": "77\n"}, 77},
		{"version 2, bind mount of the container's group", "0::/docker/abc\n", map[string]string{"memory.max": "444\n"}, 444},
		{"version 2, bind mount of a group above", "0::/docker/abc/sub\n", map[string]string{
			"abc/sub/memory.max": "900\n", "abc/memory.max": "333\n"}, 333},
		{"version 1", v1Line, map[string]string{"memory/slurm/uid_7/job_42/step_0/task_0/memory.limit_in_bytes": "2000\n"}, 2000},
		{"version 1, no limit", v1Line,
			map[string]string{"memory/slurm/uid_7/job_42/step_0/task_0/memory.limit_in_bytes": "9223372036854771712\n"}, 9223372036854771712},
		{"version 1, the job's is less", v1Line, map[string]string{
			"memory/slurm/uid_7/job_42/step_0/task_0/memory.limit_in_bytes": "9223372036854771712\n",
			"memory/slurm/uid_7/job_42/memory.limit_in_bytes":               "1234\n",
			"memory/memory.limit_in_bytes":                                  "9223372036854771712\n"}, 1234},
		{"version 1, another controller's group", v1Line, map[string]string{"cpu,cpuacct/other/memory.limit_in_bytes": "7\n",
			"memory/other/memory.limit_in_bytes": "7\n"}, none},
		{"version 1, container in the host's namespace", "4:memory:/docker/abc\n",
			map[string]string{"memory/memory.limit_in_bytes": "2222\n"}, 2222},
		{"version 1, a parent that isn't mounted", "4:memory:/pod/abc\n",
			map[string]string{"memory/memory.limit_in_bytes": "2222\n",
				"memory/memory.stat": "cache 4\nhierarchical_memory_limit 1111\nhierarchical_memsw_limit 3\n"}, 1111},
		{"not in a group", "", map[string]string{"memory.max": "12\n"}, none},
		{"both, memory in version 1", "4:memory:/a\n0::/b\n",
			map[string]string{"memory/a/memory.limit_in_bytes": "3000\n", "unified/b/cgroup.procs": ""}, 3000},
		{"both, each with a limit", "4:memory:/a\n0::/b\n",
			map[string]string{"memory/a/memory.limit_in_bytes": "3000\n", "unified/b/memory.max": "2999\n"}, 2999},
		{"lines that make no sense", "\n::\nx\n0::/job\n",
			map[string]string{"job/memory.max": "12\n"}, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"proc/self/cgroup": c.group}
			for name, text := range c.limits {
				files[filepath.Join("sys/fs/cgroup", name)] = text
			}
			if got := cgroupMemory(writeTree(t, files)); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
	if got := cgroupMemory(t.TempDir()); got != none {
		t.Errorf("without /proc: %d", got)
	}
}
