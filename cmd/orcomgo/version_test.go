package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"orcomgo/internal/testrun"
)

// TestBuildsAreIgnored: what go build writes in a clone is no change of it, which the version of the next build would say.
func TestBuildsAreIgnored(t *testing.T) {
	testrun.NoRace(t)
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	root := filepath.Join("..", "..")
	run := func(args ...string) error {
		return exec.CommandContext(t.Context(), git, append([]string{"-c", "safe.directory=*", "-C", root}, args...)...).Run()
	}
	if run("rev-parse", "--git-dir") != nil {
		t.Skip("this is no clone of the repository")
	}
	for _, path := range []string{"orcomgo", "simreads", "cmd/orcomgo/orcomgo", "cmd/simreads/simreads", "bin/orcomgo", "orcomgo.exe"} {
		if run("check-ignore", "-q", path) != nil {
			t.Errorf("git does not ignore %s", path)
		}
	}
}
