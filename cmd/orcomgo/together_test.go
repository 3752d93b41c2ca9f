package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/bins/vfs"
)

// during runs a command, and other when the command makes its first temporary file whose path ends in ext.
func during(t *testing.T, ext string, other func(), args ...string) (status int, stderr string) {
	t.Helper()
	ran := false
	vfs.Fault = func(call, path string) error {
		if !ran && call == "tmpfile" && strings.HasSuffix(path, ext) {
			ran = true
			fault := vfs.Fault
			vfs.Fault = nil
			other()
			vfs.Fault = fault
		}
		return nil
	}
	defer func() { vfs.Fault = nil }()
	if status, stderr = runHere(args...); !ran {
		t.Errorf("orcomgo %s made no file %s", strings.Join(args, " "), ext)
	}
	return status, stderr
}

// TestArchiveTogether: of two runs that make the same archives at the same time both succeed, and what is there is whole.
func TestArchiveTogether(t *testing.T) {
	in := oddTree(t, true)
	for _, c := range []struct{ name, in, ext string }{
		{"a file", filepath.Join(in, "x.fastq"), ".cdna"},
		{"a directory, while a sample is archived", in, ".cdna"},
		{"a directory, while its other files are archived", in, ".ctree"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			archive := []string{"archive", "--quiet", c.in, out}
			if status, errs := during(t, c.ext, func() { mustRun(t, archive...) }, archive...); status != 0 {
				t.Errorf("status %d: %s", status, errs)
			}
			mustRun(t, "verify", "--quiet", out)
			mustRun(t, archive...)
		})
	}
}

// TestSideArchivesTogether: of two runs that archive different directories of one name at the same time, one fails, and replaces
// nothing that the other wrote.
func TestSideArchivesTogether(t *testing.T) {
	first, second := oddTree(t, false), oddTree(t, false)
	put(t, second, map[string][]byte{"only.txt": []byte("of the second\n")})
	if err := os.Remove(filepath.Join(second, "log.txt")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	status, errs := during(t, ".ctree", func() { mustRun(t, "archive", "--quiet", second, out) }, "archive", "--quiet", first, out)
	if status != exitFailure || !strings.Contains(errs, "an archive is there already") {
		t.Errorf("status %d: %s", status, errs)
	}
	back := filepath.Join(t.TempDir(), "back")
	mustRun(t, "unpack", "--quiet", out, "-o", back)
	if what := treesDiffer(t, back, second); what != "" {
		t.Error(what)
	}
}
