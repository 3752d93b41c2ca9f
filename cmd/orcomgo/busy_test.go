package main

import (
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/bins"
)

// TestBusy: bins that another run is packing are not packed, and the message says so.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "run")
	mustRun(t, "bin", "--quiet", input, out)
	r, err := bins.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Lock(); err != nil {
		t.Fatal(err)
	}
	before := contents(t, out)
	for _, args := range [][]string{{"pack", "--quiet", out}, {"archive", "--quiet", input, out}} {
		status, errs := runHere(args...)
		if status != exitFailure || !strings.HasSuffix(errs, "another run is writing there\n") || !equal(contents(t, out), before) {
			t.Errorf("%s: exit status %d: %s", args[0], status, errs)
		}
	}
}
