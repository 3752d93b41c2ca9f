package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orcomgo/bins/commit"
)

// TestBatchInterrupted: a signal ends a batch with its status. Archives that are there are whole, nothing else is left, and the next run
// makes the others.
func TestBatchInterrupted(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.Mkdir(in, 0o777); err != nil {
		t.Fatal(err)
	}
	r1, _ := simulated(t, dir, 300)
	text, err := os.ReadFile(r1)
	if err != nil {
		t.Fatal(err)
	}
	const all = 12
	for i := range all {
		put(t, in, map[string][]byte{fmt.Sprintf("s%02d.fastq", i): text})
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() { // once the first archive is there
		for ctx.Err() == nil {
			if found, err := commit.Find(out); err == nil && len(found) > 0 {
				cancel(signalled{syscall.SIGTERM})
			}
			time.Sleep(time.Millisecond)
		}
	}()
	var errs bytes.Buffer
	s := &streams{in: strings.NewReader(""), out: new(bytes.Buffer), err: &errs}
	status := run(ctx, s, []string{"archive", "--quiet", "--jobs", "2", in, out})
	cancel(nil)
	see(errs.String())
	if status != (signalled{syscall.SIGTERM}).status() || !strings.HasPrefix(errs.String(), "orcomgo: ended by signal") ||
		strings.Count(errs.String(), "\n") != 1 {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	found, err := commit.Find(out)
	if err != nil || len(found) == all {
		t.Fatalf("%d archives: %v", len(found), err)
	}
	for name := range contents(t, out) {
		if !strings.HasSuffix(name, ".cdna") && !strings.HasSuffix(name, ".cmeta") && !strings.HasSuffix(name, ".cpar") {
			t.Errorf("left behind: %s", name)
		}
	}
	verifyReads(t, out)
	status, errText := runHere("archive", in, out)
	if want := fmt.Sprintf("%d samples: %d archived, %d there already, 0 failed", all, all-len(found), len(found)); status != 0 ||
		!strings.Contains(errText, want) {
		t.Errorf("status %d, expected %q: %s", status, want, errText)
	}
}

// verifyReads verifies the archives of reads in a directory whose side archive was not written, which is an error of the directory.
func verifyReads(t *testing.T, dir string) {
	t.Helper()
	found, err := commit.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		mustRun(t, "verify", "--quiet", e.Path())
	}
	if status, _ := runHere("verify", "--quiet", dir); status != 1 {
		t.Errorf("verify of %s, which lacks its side archive: status %d", dir, status)
	}
}
