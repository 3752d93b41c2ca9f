package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"orcomgo/cmd/simreads/sim"
	"orcomgo/internal/testrun"
)

// runHere runs orcomgo in this process and returns its exit status and standard error.
func runHere(args ...string) (status int, stderr string) {
	status, _, stderr = runOutput(args...)
	return status, stderr
}

// noneHeld has all bins in files. testTuning is that of runs in this process.
var noneHeld, testTuning = tuning{heldShare: 1 << 60}, tuning{}

// runOutput runs orcomgo in this process and returns its status and what it printed.
func runOutput(args ...string) (status int, stdout, stderr string) {
	// A command sets this for a process of its own. Here it would make later tests collect garbage most of the time.
	defer debug.SetMemoryLimit(math.MaxInt64)
	var out, errs bytes.Buffer
	status = run(context.Background(), &streams{in: strings.NewReader(""), out: &out, err: &errs, tuning: testTuning}, args)
	see(errs.String())
	return status, out.String(), errs.String()
}

func mustRun(t *testing.T, args ...string) {
	t.Helper()
	if status, errs := runHere(args...); status != 0 {
		t.Fatalf("orcomgo %s: status %d: %s", strings.Join(args, " "), status, errs)
	}
}

// simulated writes a pair of files of so many pairs and returns their paths.
func simulated(t *testing.T, dir string, pairs uint64) (r1, r2 string) {
	t.Helper()
	s, err := sim.New(sim.Config{Genome: sim.Invent(sim.GenomeConfig{Size: 20_000}), Reads: pairs, Paired: true, NRate: 0.001,
		Quality: sim.Levels8})
	if err != nil {
		t.Fatal(err)
	}
	t1, t2 := s.All()
	r1, r2 = filepath.Join(dir, "r1.fastq"), filepath.Join(dir, "r2.fastq")
	for path, text := range map[string][]byte{r1: t1, r2: t2} {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return r1, r2
}

// noneHeldCommand is the name under which the test binary plays an orcomgo whose archive has all bins in a file.
const noneHeldCommand = "orcomgo-none-held"

func init() {
	programs[noneHeldCommand] = func() {
		runProcess(noneHeld)
	}
}

// contents reads all files of a directory.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func same(t *testing.T, got, want map[string][]byte) {
	t.Helper()
	for name := range got {
		if want[name] == nil {
			t.Fatalf("%s was left behind", name)
		}
	}
	for name, text := range want {
		if !bytes.Equal(got[name], text) {
			t.Fatalf("%s is not what it is without the kill", name)
		}
	}
}

// childAs is child for one of the programs.
func childAs(t *testing.T, program string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{program}, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &out
}

// child starts orcomgo in a process of its own; the test binary plays it, see TestMain.
func child(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	return childAs(t, "orcomgo", args...)
}

// kills is how often the tests below end a process at a random moment.
func kills() int {
	return testrun.Pick(5, 8, 200)
}
