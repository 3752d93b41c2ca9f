package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:generate go test -run TestFixtures -update

var update = flag.Bool("update", false, "rewrite the fixtures in testdata")

// TestFixtures checks that the files in testdata are what simreads makes of the flags in
// testdata/fixtures.txt, and that nothing else lies there.
func TestFixtures(t *testing.T) {
	const testdata = "../../testdata"
	list, err := os.Open(filepath.Join(testdata, "fixtures.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	dir := testdata
	if !*update {
		dir = t.TempDir()
	}
	for s := bufio.NewScanner(list); s.Scan(); {
		line, _, _ := strings.Cut(s.Text(), "#")
		flags := strings.Fields(line)
		if len(flags) == 0 {
			continue
		}
		for i, f := range flags {
			if f == "-o" || f == "--genome-out" {
				flags[i+1] = filepath.Join(dir, flags[i+1])
			}
			if f == "--genome" {
				flags[i+1] = filepath.Join(testdata, flags[i+1])
			}
		}
		if err := run(context.Background(), flags, os.Stdout); err != nil {
			t.Fatalf("simreads %s: %v", line, err)
		}
	}
	if *update {
		return
	}
	kept, err := os.ReadDir(testdata)
	if err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range made {
		got, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(testdata, f.Name()))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("testdata/%s is not what simreads makes (go generate ./cmd/simreads makes it anew)", f.Name())
		}
	}
	kept = slices.DeleteFunc(kept, func(f os.DirEntry) bool { return f.IsDir() }) // of other tests
	if len(kept) != len(made)+1 {                                                 // fixtures.txt itself
		t.Errorf("%d files in testdata, simreads makes %d of them", len(kept)-1, len(made))
	}
}

func TestUsageErrors(t *testing.T) {
	for flags, want := range map[string]string{
		"":                                "--output is missing",
		"-o x":                            "one of --reads and --coverage",
		"-o x --reads 1 --coverage 1":     "exclude each other",
		"-o x --reads 1 --levels 5":       "--levels is 4, 8 or 41",
		"-o x --reads 1 --names bob":      "--names is casava",
		"-o x --reads 1 --long medium":    "--long is hifi or nanopore",
		"-o x --reads 1 --indels 0.01":    "--indels",
		"-o x --reads 1 --gzip --bgzip":   "exclude each other",
		"-o x --reads 1 extra":            "unexpected argument",
		"-o x --reads 1 --no-such-flag":   "unknown flag",
		"-o x --reads 1 --genome-size -5": "--genome-size must be positive",
	} {
		err := run(context.Background(), strings.Fields(flags), os.Stdout)
		var bad usageError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("simreads %s: %v, want a usage error that says %q", flags, err, want)
		}
	}
}

func TestNothingIsLeftOfAFailedRun(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := run(ctx, []string{"--reads", "100000", "--paired", "-o", filepath.Join(dir, "x")}, os.Stdout)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the cancellation", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v was left behind", left)
	}
}
