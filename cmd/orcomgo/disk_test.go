//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orcomgo/cmd/simreads/sim"
)

// fullDisk mounts a small file system, which takes a privileged user, or skips the test.
func fullDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no file system of %s: mounting a tmpfs: %v", size, err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// A disk that is full is reported, and leaves what was there before and nothing else.
func TestFullDisk(t *testing.T) {
	s, err := sim.New(sim.Config{Genome: sim.Invent(sim.GenomeConfig{Size: 500_000}), Reads: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := s.All()
	reads := filepath.Join(t.TempDir(), "reads.fastq")
	if err := os.WriteFile(reads, text, 0o666); err != nil {
		t.Fatal(err)
	}
	fails := func(t *testing.T, args ...string) {
		t.Helper()
		status, errs := runHere(args...)
		if status != exitFailure || !strings.Contains(errs, "no space left on device") || strings.Count(errs, "\n") != 1 {
			t.Errorf("status %d: %q", status, errs)
		}
	}
	empty := func(t *testing.T, dir string) {
		t.Helper()
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	t.Run("bin", func(t *testing.T) {
		disk := fullDisk(t, "512k")
		out := filepath.Join(disk, "out")
		fails(t, "bin", "--quiet", reads, out)
		empty(t, out)
	})
	t.Run("archive", func(t *testing.T) {
		defer func() { testTuning = tuning{} }()
		for _, testTuning = range []tuning{{}, noneHeld} { // bins in memory, in a file
			disk := fullDisk(t, "512k")
			out := filepath.Join(disk, "out")
			fails(t, "archive", "--quiet", reads, out)
			empty(t, out)
		}
	})
	archive := filepath.Join(t.TempDir(), "archive")
	mustRun(t, "bin", "--quiet", reads, archive)
	t.Run("pack", func(t *testing.T) {
		before := contents(t, archive)
		used := 0
		disk := fullDisk(t, "3m")
		out := filepath.Join(disk, "out")
		if err := os.CopyFS(out, os.DirFS(archive)); err != nil {
			t.Fatal(err)
		}
		for _, b := range before {
			used += len(b)
		}
		// leave room for a little only
		if err := os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, 3<<20-used-200<<10), 0o666); err != nil {
			t.Fatal(err)
		}
		fails(t, "pack", "--quiet", out)
		same(t, contents(t, out), before)
	})
	t.Run("unpack", func(t *testing.T) {
		disk := fullDisk(t, "2m")
		fails(t, "unpack", "--quiet", archive, "-o", disk)
		empty(t, disk)
		if err := os.WriteFile(filepath.Join(disk, "reads.fastq"), []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
		fails(t, "unpack", "--quiet", "--force", archive, "-o", disk)
		if b, err := os.ReadFile(filepath.Join(disk, "reads.fastq")); err != nil || string(b) != "mine" {
			t.Errorf("what was there before is gone: %q, %v", b, err)
		}
	})
}
