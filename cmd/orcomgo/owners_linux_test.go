package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOwnersAsAnother: unpack --owner by another user than root is refused in one line, before anything is made.
func TestOwnersAsAnother(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.Mkdir(in, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(in, "x.txt"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "archive", "-q", in, filepath.Join(dir, "arch"))
	cmd := exec.Command("/proc/self/exe") // the directory of the test binary may be its owner's
	cmd.Args = []string{peakCommand, "unpack", "--owner", "arch", "-o", "back"}
	cmd.Dir = dir
	if os.Geteuid() == 0 {
		for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err := cmd.Run()
	if cmd.ProcessState.ExitCode() != 1 || errs.String() != "orcomgo: unpack: --owner: only root can restore owners\n" {
		t.Errorf("%v: %q", err, &errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "back")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is something where nothing may be restored: %v", err)
	}
}
