package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orcomgo/bins/vfs"
)

// TestLateErrors: errors of the file system after results are complete, or while they are verified, say what is there.
func TestLateErrors(t *testing.T) {
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 40)
	out := filepath.Join(dir, "run")
	mustRun(t, "bin", "--quiet", r1, r2, out)
	restored := filepath.Join(dir, "restored")
	for _, c := range []struct {
		name, call, path string // the call that fails, and a part of its path
		args             []string
		want             string
	}{
		{"unpack can't sync the directory", "syncdir", "restored", []string{"unpack", "--quiet", "--force", out, "-o", restored},
			"(the files are restored, but a power cut now may lose them)"},
		{"unpack can't name the second file", "link", "r2.fastq", []string{"unpack", "--quiet", out, "-o", restored + "2"},
			"(the files before it are restored)"},
		{"pack can't read what it wrote", "pread", ".cdna", []string{"pack", "--quiet", out}, "verification failed, the bins are kept: "},
		{"pack can't remove the bins", "unlink", ".bmeta", []string{"pack", "--quiet", out}, "is complete and can be read)"},
	} {
		vfs.Fault = func(call, path string) error {
			if call == c.call && strings.Contains(path, c.path) {
				return syscall.EIO
			}
			return nil
		}
		status, errs := runHere(c.args...)
		vfs.Fault = nil
		if status != exitFailure || !strings.Contains(errs, c.want) || !strings.Contains(errs, "input/output error") {
			t.Errorf("%s: status %d: %s", c.name, status, errs)
		}
	}
}
