//go:build unix

package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// bin with the least --memory stays within it, whatever the text is like.
func TestBinLeastMemory(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, record string }{
		{"reads of 100 bases", "@read.1:1:2:3\n" + strings.Repeat("ACGTTGCATT", 10) + "\n+\n" + strings.Repeat("FFFF:FFFF,", 10) + "\n"},
		{"wrapped", "@read.1\nACGTTGCATT\nACGTT\n+\nFFFF:FFFF,\n@+FFF\n"},
		{"tiny records", "@\nA\n+\nI\n"},
		{"tiny records of odd layouts", ">\nA\n>a\n\nC\nA\n>\r\nA\r\nCG\n"},
	} {
		dir := memoryDir(t)
		path := filepath.Join(dir, "x")
		if err := os.WriteFile(path, []byte(strings.Repeat(tt.record, 20_000_000/len(tt.record))), 0o666); err != nil {
			t.Fatal(err)
		}
		// A process begins with the peak of the one that it is made from, if the two
		// share memory at first, as with Go; So a shell is between them,
		// and the program says its own peak.
		program := filepath.Join(dir, "orcomgo")
		if err := os.Symlink(self, program); err != nil {
			t.Fatal(err)
		}
		peak := math.Inf(1)
		for try := 0; try < 3 && peak > leastMemory*1.15; try++ { // the collector may be late on a busy machine
			peak = min(peak, peakOf(t, program, "bin", "-f", "-t", "2", "--memory", "64MiB", path, filepath.Join(dir, "out")))
		}
		t.Logf("%s: %g MB", tt.name, peak/1e6)
		if peak > leastMemory*1.15 {
			t.Errorf("%s: peak memory %g MB", tt.name, peak/1e6)
		}
	}
}

// peakOf returns the peak memory in bytes that a command tells of itself.
func peakOf(t *testing.T, command ...string) float64 {
	out, err := exec.Command("sh", append([]string{"-c", `"$0" "$@"; exit $?`}, command...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", command, err, out)
	}
	said := regexp.MustCompile(`peak memory ([0-9.]+) MB`).FindSubmatch(out)
	if said == nil {
		t.Fatalf("%q: no peak memory in %q", command, out)
	}
	peak, err := strconv.ParseFloat(string(said[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return peak * 1e6
}
