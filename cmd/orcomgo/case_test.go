package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/bins/vfs"
)

// TestCase: where case does not count, names that differ by it alone are not put one over the other.
func TestCase(t *testing.T) {
	base := t.TempDir()
	put(t, base, map[string][]byte{"x.fastq": []byte("@r1\nACGT\n+\nIIII\n"), "X.fastq": []byte("@r2\nTTGT\n+\nIIII\n")})
	mustRun(t, "archive", "--quiet", filepath.Join(base, "x.fastq"), filepath.Join(base, "X.fastq"), filepath.Join(base, "both"))
	listed, side := filepath.Join(base, "listed"), filepath.Join(base, "side")
	if err := os.Mkdir(listed, 0o777); err != nil {
		t.Fatal(err)
	}
	put(t, listed, map[string][]byte{"a": []byte("one"), "A": []byte("two")})
	mustRun(t, "archive", "--quiet", listed, side)
	vfs.Fault = func(call, _ string) error {
		if call == "foldcase" {
			return errors.New("it does")
		}
		return nil
	}
	defer func() { vfs.Fault = nil }()
	status, errs := runHere("unpack", filepath.Join(base, "both"), "-o", filepath.Join(base, "out"))
	if status != 1 || !strings.Contains(errs, "differ by case only, which does not count on this file system: choose one by --input") {
		t.Errorf("status %d, %q", status, errs)
	}
	status, errs = runHere("unpack", side, "-o", filepath.Join(base, "out2"))
	if status != 1 || !strings.Contains(errs, "its name differs only by case from that of ") {
		t.Errorf("status %d, %q", status, errs)
	}
}
