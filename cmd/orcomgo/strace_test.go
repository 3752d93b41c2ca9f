//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The system calls that commands make to the file system, with an error that each can give.
var injections = []struct{ calls, err string }{
	{"openat", "EACCES"}, {"openat", "EIO"}, {"read", "EIO"}, {"pread64", "EIO"}, {"write", "ENOSPC"}, {"pwrite64", "ENOSPC"},
	{"pwrite64", "EIO"}, {"fsync", "EIO"}, {"close", "EIO"}, {"fstat", "EIO"}, {"newfstatat", "EACCES"}, {"newfstatat", "EIO"},
	{"getdents64", "EIO"}, {"mkdirat", "ENOSPC"}, {"linkat", "ENOSPC"}, {"linkat", "EOPNOTSUPP"}, {"renameat,renameat2", "EIO"},
	{"unlinkat", "EIO"}, {"flock", "ENOLCK"}, {"mmap", "ENOMEM"},
}

// TestLongSystemCalls makes each system call of each command fail, one in each run, by
// strace: nothing is lost, no file of others is touched, and the exit status tells the truth.
func TestLongSystemCalls(t *testing.T) {
	if os.Getenv("ORCOMGO_LONG") == "" {
		t.Skip("takes minutes; make test-long runs it")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed; TestFaults makes calls fail without it")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "orcomgo")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	total := 0
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			for _, in := range injections {
				for at := 1; ; at++ {
					injected := false
					problem := s.try(t, w, func(dir string) int {
						trace := filepath.Join(t.TempDir(), "trace")
						inject := fmt.Sprintf("inject=%s:error=%s:when=%d", in.calls, in.err, at)
						args := []string{"-f", "-o", trace, "-e", "trace=" + in.calls, "-e", inject, program}
						cmd := exec.Command(strace, append(args, s.in(dir)...)...)
						var out bytes.Buffer
						cmd.Stdout, cmd.Stderr = &out, &out
						err := cmd.Run()
						text, _ := os.ReadFile(trace)
						injected = bytes.Contains(text, []byte("(INJECTED)"))
						status := cmd.ProcessState.ExitCode()
						var exit *exec.ExitError
						switch {
						case err != nil && !errors.As(err, &exit):
							t.Fatal(err)
						case injected && (status == 2 || status == 127 || status < 0 && in.calls == "mmap"):
							// the Go runtime, or the loader before it, gives up, without memory by a signal
						case status != 0 && status != exitFailure:
							t.Errorf("%s %s of call %d: status %d: %s", in.calls, in.err, at, status, out.String())
						case status != 0 && !strings.Contains(out.String(), "orcomgo: ") && !silenced(text):
							t.Errorf("%s %s of call %d: status %d without a word: %s", in.calls, in.err, at, status, out.String())
						}
						return status
					})
					if problem != "" {
						t.Errorf("%s %s of call %d: %s", in.calls, in.err, at, problem)
					}
					if !injected {
						break
					}
					total++
				}
			}
		})
	}
	t.Logf("%d system calls failed", total)
}

// silenced reports whether writing to stderr failed, according to the trace. strace counts the calls of
// each thread, so it may, after another call has failed.
func silenced(trace []byte) bool {
	for line := range bytes.Lines(trace) {
		if bytes.Contains(line, []byte("write(2,")) && bytes.Contains(line, []byte("(INJECTED)")) {
			return true
		}
	}
	return false
}
