//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestForcedLinks: whatever call of the file system fails, unpack --force leaves something under the names of links and FIFOs: what was
// there, or what is restored. No random name is left.
func TestForcedLinks(t *testing.T) {
	dir := oddTree(t, false)
	base := filepath.Dir(dir)
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Skip(err)
	}
	archived, out := filepath.Join(base, "archived"), filepath.Join(base, "back")
	mustRun(t, "archive", "--quiet", dir, archived)
	replaced := []string{"Data/up", "z.txt", "fifo"}
	n := eachFault(t, func() []string {
		if err := errors.Join(os.RemoveAll(out), os.MkdirAll(filepath.Join(out, "Data"), 0o777)); err != nil {
			t.Fatal(err)
		}
		put(t, out, map[string][]byte{"log.txt": []byte("older"), "z.txt": []byte("older"), "fifo": []byte("older"), "Data/up": []byte("older")})
		return []string{"unpack", "--quiet", "--force", archived, "-o", out}
	}, func(status int, errText, what string) {
		for _, name := range replaced {
			if _, err := os.Lstat(filepath.Join(out, name)); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		// A name that can't be removed stays.
		for _, p := range []string{".orcomgo-*", "Data/.orcomgo-*"} {
			if left, _ := filepath.Glob(filepath.Join(out, p)); len(left) > 0 && !strings.HasPrefix(what, "unlink of ") {
				t.Errorf("%s: %s is left", what, left)
			}
		}
		if strings.Contains(errText, ".orcomgo-") && !strings.HasPrefix(what, "unlink of ") {
			t.Errorf("%s: the message has a random name: %s", what, errText)
		}
		if what != "" {
			return
		}
		if status != 0 {
			t.Error(errText)
		}
		for _, name := range replaced {
			got, errGot := os.Lstat(filepath.Join(out, name))
			want, err := os.Lstat(filepath.Join(dir, name))
			if err := errors.Join(err, errGot); err != nil || got.Mode().Type() != want.Mode().Type() {
				t.Errorf("%s is not what was archived: %v", name, err)
			}
		}
	})
	if n < 40 {
		t.Errorf("only %d calls", n)
	}
	mustRun(t, "unpack", "--quiet", "--force", archived, "-o", out) // over what it restored: hard links to one file
	if left, _ := filepath.Glob(filepath.Join(out, ".orcomgo-*")); len(left) > 0 {
		t.Errorf("%s is left", left)
	}
	one, err1 := os.Stat(filepath.Join(out, "log.txt"))
	two, err2 := os.Stat(filepath.Join(out, "z.txt"))
	if err1 != nil || err2 != nil || !os.SameFile(one, two) {
		t.Errorf("hard links came back as different files: %v, %v", err1, err2)
	}
}
