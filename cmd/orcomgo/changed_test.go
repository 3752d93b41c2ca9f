//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orcomgo/bins/vfs"
)

// An input that is rewritten in place while bin or archive runs is refused, and nothing is left. The command is
// held up by a pipe, its second input, so that it has the first one open when that changes.
func TestInputRewritten(t *testing.T) {
	for _, command := range []string{"bin", "archive"} {
		t.Run(command, func(t *testing.T) { testInputRewritten(t, command) })
	}
}

func testInputRewritten(t *testing.T, command string) {
	text := strings.Repeat("@a\nACGT\n+\nIIII\n", 1000)
	other := strings.Repeat("@b\nTGCA\n+\nFFFF\n", 1000)
	long := time.Now().Add(-time.Hour)
	for name, change := range map[string]func(path string) error{
		"in place": func(path string) error { return os.WriteFile(path, []byte(other), 0o666) },
		"in place, with its old time": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(other), 0o666), os.Chtimes(path, long, long))
		},
		"appended to":      func(path string) error { return os.WriteFile(path, []byte(text+other), 0o666) },
		"replaced by name": func(path string) error { return os.Rename(path+".other", path) },
		"removed":          os.Remove,
		"not at all":       nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file, pipe, out := filepath.Join(dir, "file.fastq"), filepath.Join(dir, "pipe.fastq"), filepath.Join(dir, "out")
			if err := errors.Join(os.WriteFile(file, []byte(text), 0o666), os.WriteFile(file+".other", []byte(text), 0o666),
				os.Chtimes(file, long, long), syscall.Mkfifo(pipe, 0o666)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(12 * time.Millisecond) // a later change has another time
			type result struct {
				status int
				errs   string
			}
			done := make(chan result, 1)
			go func() {
				status, errs := runHere(command, "--quiet", file, pipe, out)
				done <- result{status, errs}
			}()
			w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // once bin has opened it, after the file
			if err != nil {
				t.Fatal(err)
			}
			if change != nil {
				if err := change(file); err != nil {
					t.Fatal(err)
				}
			}
			_, err = w.WriteString(other)
			if err := errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			got := <-done
			if change == nil {
				if got.status != 0 {
					t.Errorf("exit status %d: %s", got.status, got.errs)
				}
				return
			}
			if got.status != exitFailure || !strings.HasPrefix(got.errs, "orcomgo: "+file+": ") || strings.Count(got.errs, "\n") != 1 {
				t.Errorf("exit status %d: %q", got.status, got.errs)
			}
			if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is there (%v)", out, err)
			}
		})
	}
}

// TestSampleChanged: a file of a directory that is written to while it is archived is named. To store it as it is would not help.
func TestSampleChanged(t *testing.T) {
	base, first, _ := twoDirectories(t)
	path, reads := filepath.Join(first, "x.fastq"), 0
	vfs.Fault = func(call, of string) error {
		if call == "read" && of == path {
			if reads++; reads == 7 { // it is archived now: the scan and the choice of samples and of mates have read it
				return appendTo(path, "@r2\nACGT\n+\nIIII\n")
			}
		}
		return nil
	}
	defer func() { vfs.Fault = nil }()
	status, errs := runHere("archive", "--quiet", first, filepath.Join(base, "out"))
	if status != exitFailure || !strings.Contains(errs, "x.fastq: the file became longer while it was read") ||
		strings.Contains(errs, "--as-is") {
		t.Errorf("%d reads, exit status %d: %s", reads, status, errs)
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
