package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orcomgo/bins/vfs"
)

// TestReportFullDisk: an error in the middle of the files of report leaves none of them, and no directory, so the same command works
// afterwards.
func TestReportFullDisk(t *testing.T) {
	dir := t.TempDir()
	run, out := filepath.Join(dir, "run"), filepath.Join(dir, "out")
	mustRun(t, "archive", "--quiet", input, run)
	report := []string{"report", "--quiet", run, "-o", filepath.Join(out, "page.html"), "--multiqc", filepath.Join(out, "mqc")}
	for _, last := range []string{"_n_mqc.json", "page.html"} {
		vfs.Fault = func(call, path string) error {
			if call == "write" && strings.HasSuffix(path, last) {
				return syscall.ENOSPC
			}
			return nil
		}
		status, errs := runHere(report...)
		vfs.Fault = nil
		if status != exitFailure || !strings.HasSuffix(errs, last+": no space left on device\n") {
			t.Errorf("status %d: %s", status, errs)
		}
		if _, err := os.Stat(out); !os.IsNotExist(err) {
			t.Errorf("%s was left (%v)", out, err)
		}
	}
	mustRun(t, report...)
}
