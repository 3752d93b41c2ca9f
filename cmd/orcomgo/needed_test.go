package main

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orcomgo/bins/vfs"
)

// twoDirectories makes directories first and second, each with other reads in a file x.fastq and another file.
func twoDirectories(t *testing.T) (base, first, second string) {
	t.Helper()
	base = t.TempDir()
	first, second = filepath.Join(base, "first"), filepath.Join(base, "second")
	for dir, reads := range map[string]string{first: "@r1\nACGTACGTAAACCCGGGTTT\n+\nIIIIIIIIIIIIIIIIIIII\n",
		second: "@r22\nTTTGGGCCCAAATGCATGCA\n+\nIIIIIIIIIIIIIIIIIIII\n"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		put(t, dir, map[string][]byte{"x.fastq": []byte(reads), "notes.txt": []byte(dir + "\n")})
	}
	return base, first, second
}

// restoresBoth checks that a directory of archives is sound and has both directories.
func restoresBoth(t *testing.T, out, first, second string) {
	t.Helper()
	mustRun(t, "verify", "--quiet", out)
	for _, dir := range []string{first, second} {
		back := filepath.Join(t.TempDir(), "back")
		mustRun(t, "unpack", "--quiet", filepath.Join(out, filepath.Base(dir)+".ctree"), "-o", back)
		if what := treesDiffer(t, back, dir); what != "" {
			t.Error(what)
		}
	}
}

// TestForcedTogether: of two runs with --force at the same time that archive different directories with samples of one name, none is
// called successful if the other replaced what it needs, and the same command mends that.
func TestForcedTogether(t *testing.T) {
	for _, c := range []struct{ name, ext string }{
		{"while the sample is archived", ".cdna"},
		{"while the other files are archived", ".ctree"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, first, second := twoDirectories(t)
			out := filepath.Join(base, "out")
			archive := []string{"archive", "--quiet", "--force", first, out}
			status, errs := during(t, c.ext, func() { mustRun(t, "archive", "--quiet", "--force", second, out) }, archive...)
			if status != 0 {
				if !strings.Contains(errs, "another run replaced "+filepath.Join(out, "x")+" meanwhile: give the command again") {
					t.Errorf("status %d: %s", status, errs)
				}
				mustRun(t, archive...)
			}
			restoresBoth(t, out, first, second)
		})
	}
}

// TestReplacedWhileCompared: a run that finds its sample archived does not take the archive that another run with --force makes of other
// reads for it.
func TestReplacedWhileCompared(t *testing.T) {
	base, first, second := twoDirectories(t)
	out := filepath.Join(base, "out")
	mustRun(t, "archive", "--quiet", filepath.Join(first, "x.fastq"), out)
	archive := []string{"archive", "--quiet", first, out}
	status, errs := during(t, ".ctree", func() { mustRun(t, "archive", "--quiet", "--force", second, out) }, archive...)
	if status != exitFailure || !strings.Contains(errs, "another run replaced ") {
		t.Errorf("status %d: %s", status, errs)
	}
	mustRun(t, archive...)
	restoresBoth(t, out, first, second)
}

// TestForceKeepsNeeded: no command replaces an archive that a side archive needs, unless it is by the same content.
func TestForceKeepsNeeded(t *testing.T) {
	base, first, second := twoDirectories(t)
	out, sheet := filepath.Join(base, "out"), filepath.Join(base, "sheet.csv")
	x, other := filepath.Join(out, "x"), filepath.Join(second, "x.fastq")
	put(t, base, map[string][]byte{"sheet.csv": []byte("sample,fastq_1,fastq_2\nx," + other + ",\n")})
	mustRun(t, "archive", "--quiet", first, out)
	needed := x + ": a side archive needs the reads of this archive: " + filepath.Join(out, "first.ctree")
	for _, args := range [][]string{
		{"archive", "--quiet", "--force", other, out},
		{"archive", "--quiet", "--force", filepath.Join(first, "x.fastq"), out},
		{"archive", "--quiet", "--force", "--samples", sheet, out},
		{"bin", "--quiet", "--force", other, out},
	} {
		if status, errs := runHere(args...); status != exitFailure || !strings.Contains(errs, needed) {
			t.Errorf("orcomgo %s: status %d: %s", strings.Join(args, " "), status, errs)
		}
	}
	mustRun(t, "archive", "--quiet", "--force", "--as", "y", other, out)
	mustRun(t, "verify", "--quiet", out)

	// Packed again from its bins, it must be what it was.
	binned := filepath.Join(base, "binned")
	mustRun(t, "bin", "--quiet", filepath.Join(first, "x.fastq"), binned)
	mustRun(t, "archive", "--quiet", first, binned)
	for _, c := range []struct {
		reads  string
		status int
	}{{first, 0}, {second, exitFailure}} {
		again := filepath.Join(t.TempDir(), "again")
		mustRun(t, "bin", "--quiet", filepath.Join(c.reads, "x.fastq"), again)
		for _, ext := range []string{".bdna", ".bmeta"} {
			if err := os.Rename(filepath.Join(again, "x"+ext), filepath.Join(binned, "x"+ext)); err != nil {
				t.Fatal(err)
			}
		}
		if status, errs := runHere("pack", "--quiet", "--force", binned); status != c.status ||
			status != 0 && !strings.Contains(errs, "a side archive needs the reads of this archive") {
			t.Errorf("bins of %s: status %d: %s", c.reads, status, errs)
		}
		for _, ext := range []string{".bdna", ".bmeta"} {
			os.Remove(filepath.Join(binned, "x"+ext))
		}
		mustRun(t, "verify", "--quiet", binned)
	}

	// A side archive that can't be read may need it.
	side := filepath.Join(out, "first.ctree")
	os.Remove(side + ".cpar")
	if err := os.Truncate(side, 40); err != nil {
		t.Fatal(err)
	}
	if status, errs := runHere("archive", "--quiet", "--force", other, out); status != exitFailure || !strings.Contains(errs, "or it may") {
		t.Errorf("status %d: %s", status, errs)
	}
	if err := os.Remove(side); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "archive", "--quiet", "--force", other, out)
}

// TestForcedWhileNeeded: a run with --force whose archive another run makes needed meanwhile gives its sample another name.
func TestForcedWhileNeeded(t *testing.T) {
	base, first, second := twoDirectories(t)
	out := filepath.Join(base, "out")
	done := false
	vfs.Fault = func(call, path string) error {
		if !done && call == "tmpfile" && strings.HasSuffix(path, ".cmeta") { // all of the archive is written, but for its names
			done = true
			fault := vfs.Fault
			vfs.Fault = nil
			mustRun(t, "archive", "--quiet", first, out)
			vfs.Fault = fault
		}
		return nil
	}
	status, errs := runHere("archive", "--quiet", "--force", second, out)
	vfs.Fault = nil
	if status != 0 || !done {
		t.Errorf("status %d: %s", status, errs)
	}
	restoresBoth(t, out, first, second)
}

// TestForcedUnfinished: if archive --force of a directory replaces archives, but not the side archive, the older side archive has the newer
// archives restored where size and time show that they are of the same files, and nobody else replaces these. Else what to do is said.
func TestForcedUnfinished(t *testing.T) {
	var text bytes.Buffer
	for r := rand.New(rand.NewSource(1)); text.Len() < 1<<20; { // qualities by which archives of other levels differ
		fmt.Fprintf(&text, "@r\n%s\n+\n", strings.Repeat("ACGT", 25))
		for range 100 {
			text.WriteByte("#,:F"[max(r.Intn(9)-5, 0)])
		}
		text.WriteByte('\n')
	}
	for _, c := range []struct {
		name  string
		time  time.Time
		tells bool
	}{
		{"times tell", time.Unix(1_700_000_000, 123_456_789), true},
		{"times of whole seconds", time.Unix(1_700_000_000, 0), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, first, second := twoDirectories(t)
			path, out := filepath.Join(first, "x.fastq"), filepath.Join(base, "out")
			put(t, first, map[string][]byte{"x.fastq": text.Bytes()})
			if err := os.Chtimes(path, c.time, c.time); err != nil {
				t.Fatal(err)
			}
			mustRun(t, "archive", "--quiet", first, out)
			again := []string{"archive", "--quiet", "--force", "--slice-size", "1MB", first, out}
			vfs.Fault = func(call, path string) error {
				if call == "tmpfile" && strings.HasSuffix(path, ".ctree") {
					return syscall.ENOSPC
				}
				return nil
			}
			status, errs := runHere(again...)
			vfs.Fault = nil
			if status != 1 || !strings.Contains(errs, "first.ctree: no space left on device") {
				t.Fatalf("status %d: %s", status, errs)
			}
			if !c.tells {
				status, errs := runHere("unpack", "--quiet", out, "-o", filepath.Join(base, "back"))
				const want = "x is not the archive that first.ctree was made with: if archive --force was interrupted"
				if status != 1 || !strings.Contains(errs, want) {
					t.Errorf("status %d: %s", status, errs)
				}
				mustRun(t, again...)
			}
			status, errs = runHere("archive", "--quiet", "--force", filepath.Join(second, "x.fastq"), out)
			if status != 1 || !strings.Contains(errs, "a side archive needs the reads of this archive") {
				t.Errorf("status %d: %s", status, errs)
			}
			mustRun(t, "archive", "--quiet", "--force", second, out)
			restoresBoth(t, out, first, second)
		})
	}
}
