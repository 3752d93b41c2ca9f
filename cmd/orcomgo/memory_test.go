package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orcomgo/cmd/simreads/sim"
)

// peakCommand is the name under which the test binary plays orcomgo and, in the end, prints the
// most memory that it held, in bytes. (What the system says of a child that ended counts what its
// parent held when it was made.)
const peakCommand = "orcomgo-peak"

func playPeak() {
	status := run(context.Background(), &streams{in: os.Stdin, out: io.Discard, err: os.Stderr}, os.Args[1:])
	text, _ := os.ReadFile("/proc/self/status")
	kib := 0
	if _, rest, ok := strings.Cut(string(text), "VmHWM:"); ok {
		fmt.Sscan(rest, &kib)
	}
	fmt.Println(kib << 10)
	os.Exit(status)
}

// peakOf runs orcomgo in a process of its own and returns the most memory that it held, in bytes.
func peakOf(t *testing.T, args ...string) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{peakCommand}, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("orcomgo %s: %v: %s", strings.Join(args, " "), err, &errs)
	}
	peak, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || peak == 0 {
		t.Fatalf("orcomgo %s: a peak of %q", strings.Join(args, " "), out)
	}
	return peak
}

// TestMemoryBoundHolds: --memory bounds the peak of pack, verify and unpack within 15 %, on reads
// that are hard to lay out as well. Those that share 24 bases took 15 kB each, so 40,000 took 600
// MB.
func TestMemoryBoundHolds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	const bound = 128 << 20
	reads := map[string]int{"shared24": 40_000, "suffix50": 40_000, "chimera": 40_000, "stutter": 30_000, "repeats": 30_000, "random": 40_000,
		"tandem": 40_000, "thirdN": 10_000, "identical": 100_000, "polyA": 100_000, "allN": 100_000}
	for shape, n := range reads {
		t.Run(shape, func(t *testing.T) {
			if os.Getenv("ORCOMGO_LONG") == "" && !slices.Contains([]string{"shared24", "chimera", "stutter", "identical"}, shape) {
				t.Skip("make test-long runs all shapes")
			}
			dir := t.TempDir()
			var text bytes.Buffer
			if err := sim.WriteShape(&text, shape, n, 100, 1); err != nil {
				t.Fatal(err)
			}
			in, archive, back := filepath.Join(dir, "r.fastq"), filepath.Join(dir, "archive"), filepath.Join(dir, "back")
			if err := os.WriteFile(in, text.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			mustRun(t, "bin", "-q", in, archive)
			for _, args := range [][]string{{"pack", archive}, {"verify", archive}, {"unpack", archive, "-o", back}} {
				peak := peakOf(t, append(args, "-q", "-t", "2", "--memory", "128MiB")...)
				t.Logf("%s: %d MiB", args[0], peak>>20)
				if peak > bound*115/100 {
					t.Errorf("%s took %d MiB of memory, was given %d", args[0], peak>>20, bound>>20)
				}
			}
			if got, err := os.ReadFile(filepath.Join(back, "r.fastq")); err != nil || !bytes.Equal(got, text.Bytes()) {
				t.Errorf("what was unpacked is not what went in (%v)", err)
			}
		})
	}
}
