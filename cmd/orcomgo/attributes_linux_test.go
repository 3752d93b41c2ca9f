package main

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAttributes: extended attributes are not kept, which is said once.
func TestAttributes(t *testing.T) {
	dir := oddTree(t, false)
	out := filepath.Join(filepath.Dir(dir), "out")
	for _, name := range []string{"log.txt", "Data/a.xml", "Data"} {
		if err := unix.Setxattr(filepath.Join(dir, name), "user.orcomgo.test", []byte("x"), 0); err != nil {
			t.Skip(err) // not every file system has them
		}
	}
	status, errText := runHere("archive", dir, out)
	// log.txt has a second name.
	if want := "run: extended attributes and ACLs are not kept: "; status != 0 || strings.Count(errText, want) != 1 ||
		!strings.Contains(errText, " has some, and 3 more\n") {
		t.Errorf("status %d, expected %q: %s", status, want, errText)
	}
}
