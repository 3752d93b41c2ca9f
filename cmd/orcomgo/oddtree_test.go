package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// TestSocket: what has no content is named, and the rest of the directory is archived.
func TestSocket(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string][]byte{"x.fastq": []byte("@r\nACGT\n+\nIIII\n")})
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	status, errText := runHere("archive", dir, filepath.Join(dir, "out"))
	if want := "orcomgo: " + filepath.Join(dir, "s") + ": a socket can't be archived"; status != 1 || !strings.Contains(errText, want) {
		t.Errorf("status %d, expected %q: %s", status, want, errText)
	}
	mustRun(t, "verify", "--quiet", filepath.Join(dir, "out"))
}
