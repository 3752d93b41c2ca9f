//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orcomgo/internal/testrun"
)

// An injection is an error of a system call, or of one of several.
type injection struct{ calls, err string }

// The system calls that commands make to the file system, with an error that each can give.
var injections = []injection{
	{"openat", "EACCES"}, {"openat", "EIO"}, {"read", "EIO"}, {"pread64", "EIO"}, {"write", "ENOSPC"}, {"pwrite64", "ENOSPC"},
	{"pwrite64", "EIO"}, {"fsync", "EIO"}, {"close", "EIO"}, {"fstat", "EIO"}, {"newfstatat", "EACCES"}, {"newfstatat", "EIO"},
	{"getdents64", "EIO"}, {"mkdirat", "ENOSPC"}, {"linkat", "ENOSPC"}, {"linkat", "EOPNOTSUPP"}, {"renameat,renameat2", "EIO"},
	{"unlinkat", "EIO"}, {"flock", "ENOLCK"}, {"mmap", "ENOMEM"},
}

// injectionTime is how long a command with an error may take. It takes a second at most; more on a busy machine.
const injectionTime = 3 * time.Minute

// TestLongSystemCalls makes each system call of each command fail, one in each run, by
// strace: nothing is lost, no file of others is touched, the exit status tells the truth, and no command waits for ever.
func TestLongSystemCalls(t *testing.T) {
	testrun.OnlyLong(t)
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed; TestFaults makes calls fail without it")
	}
	program := playedBy(t, "orcomgo")
	w := newWorld(t)
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			for _, in := range injections {
				t.Run(in.calls+" "+in.err, func(t *testing.T) {
					t.Parallel() // most of the time is that of starting processes and of syncing files
					at := 1
					for s.inject(t, w, []string{strace, program}, in, at) {
						at++
					}
					t.Logf("%d system calls failed", at-1)
				})
			}
		})
	}
}

// inject runs the command of a scenario with the error of in at the system call of number at of each thread, and checks what comes of
// it. It reports whether there was such a call. tools are strace and the program.
func (s *scenario) inject(t *testing.T, w *world, tools []string, in injection, at int) (injected bool) {
	problem := s.try(t, w, func(dir string) int {
		trace := filepath.Join(t.TempDir(), "trace")
		ctx, cancel := context.WithTimeout(t.Context(), injectionTime)
		defer cancel()
		cmd := exec.CommandContext(ctx, tools[0], slices.Concat([]string{"-f", "--seccomp-bpf", "-o", trace, "-e", "trace=" + in.calls,
			"-e", fmt.Sprintf("inject=%s:error=%s:when=%d", in.calls, in.err, at), tools[1]}, s.in(dir))...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // strace alone would let the program go on
		err := cmd.Run()
		text, _ := os.ReadFile(trace)
		injected = bytes.Contains(text, []byte("(INJECTED)"))
		status := cmd.ProcessState.ExitCode()
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
			t.Errorf("%s %s of call %d: no end after %v: %s", in.calls, in.err, at, injectionTime, out.String())
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
	return injected
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
