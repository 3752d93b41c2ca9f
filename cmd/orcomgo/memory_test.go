package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"orcomgo/cmd/simreads/sim"
	"orcomgo/internal/testrun"
)

// peakCommand is the name under which the test binary plays orcomgo and, in the end, prints the
// most memory that it held, and how much of what it holds then is pages of the program's file, in bytes.
// (What the system says of a child that ended counts what its parent held when it was made.)
const peakCommand = "orcomgo-peak"

func playPeak() {
	status := run(context.Background(), &streams{in: os.Stdin, out: io.Discard, err: os.Stderr}, os.Args[1:])
	code, _ := statusBytes(selfStatus, "RssFile")
	fmt.Println(peakMemory(), code)
	os.Exit(status)
}

// peakOf runs orcomgo in a process of its own and returns the most memory that it held, in bytes, without the pages of the program's
// file: the system can drop them at any time, and the test binary has more of them than the program.
func peakOf(t *testing.T, args ...string) int {
	t.Helper()
	peak, code := peaksOf(t, args...)
	return peak - code
}

// peaksOf is peakOf with those pages, and returns how much they take.
func peaksOf(t *testing.T, args ...string) (peak, code int) {
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
	if _, err := fmt.Sscan(string(out), &peak, &code); err != nil || peak == 0 {
		t.Fatalf("orcomgo %s: a peak of %q", strings.Join(args, " "), out)
	}
	return peak, code
}

// TestMemoryBoundHolds: --memory bounds the peak of pack, verify and unpack within 15 %, on reads
// that are hard to lay out as well. Those that share 24 bases took 15 kB each, so 40,000 took 600
// MB. "slices" has a large model of bases and much text in slices: it fails where slices of twice the text are in work.
func TestMemoryBoundHolds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	const bound = 96 << 20
	reads := map[string]int{"slices": 24_000, "shared24": 40_000, "suffix50": 40_000, "chimera": 40_000, "stutter": 30_000, "repeats": 30_000,
		"random": 40_000,
		"tandem": 40_000, "thirdN": 60_000, "identical": 100_000, "polyA": 100_000, "allN": 100_000}
	for shape, n := range reads {
		t.Run(shape, func(t *testing.T) {
			if !testrun.Long() && shape != "slices" {
				t.Skip("make test-long runs all shapes")
			}
			var text bytes.Buffer
			write := func(shape string, n int) {
				if err := sim.WriteShape(&text, shape, n, 100, 1); err != nil {
					t.Fatal(err)
				}
			}
			if shape == "slices" {
				write("chimera", n)
				write("identical", 200_000)
			} else {
				write(shape, n)
			}
			checkPeaks(t, text.Bytes(), bound)
			checkArchivePeak(t, text.Bytes(), bound)
		})
	}
}

// checkPeaks brings text through bin, with blocks of the usual size, then pack, verify and unpack with --memory bound, and checks the
// peaks of these and what comes back.
func checkPeaks(t *testing.T, text []byte, bound int, options ...string) {
	t.Helper()
	dir := t.TempDir()
	in, archive, back := filepath.Join(dir, "r.fastq"), filepath.Join(dir, "archive"), filepath.Join(dir, "back")
	if err := os.WriteFile(in, text, 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, append([]string{"bin", "-q", in, archive}, options...)...)
	for _, args := range [][]string{{"verify", archive}, {"pack", archive}, {"verify", archive}, {"unpack", archive, "-o", back}} {
		checkPeak(t, bound, args...)
	}
	if len(options) > 0 {
		return
	}
	if got, err := os.ReadFile(filepath.Join(back, "r.fastq")); err != nil || !bytes.Equal(got, text) {
		t.Errorf("what was unpacked is not what went in (%v)", err)
	}
}

// checkPeak checks the peak of a command with --memory bound.
func checkPeak(t *testing.T, bound int, args ...string) {
	t.Helper()
	peak := peakOf(t, append(args, "-q", "-t", "2", "--memory", fmt.Sprintf("%dMiB", bound>>20))...)
	t.Logf("%s: %d MiB", args[0], peak>>20)
	if peak > bound*testrun.Pick(105, 105, 115)/100 {
		t.Errorf("%s took %d MiB of memory, was given %d", args[0], peak>>20, bound>>20)
	}
}

// checkArchivePeak is checkPeaks for archive, whose bins may be in memory.
func checkArchivePeak(t *testing.T, text []byte, bound int, options ...string) {
	t.Helper()
	dir := t.TempDir()
	in := filepath.Join(dir, "r.fastq")
	if err := os.WriteFile(in, text, 0o666); err != nil {
		t.Fatal(err)
	}
	checkPeak(t, bound, append([]string{"archive", in, filepath.Join(dir, "out")}, options...)...)
}

// TestMemoryBoundHoldsLong: likewise on two million reads, whose blocks of 256 MB hold more names and qualities than 128 MiB, and whose
// pseudogenome, where they are chimeric, takes a byte a base for the variants of a slice. A third of the bases N are 45 million runs.
func TestMemoryBoundHoldsLong(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	testrun.OnlyLong(t)
	const reads = 2_000_000
	shape := func(name string) func(t *testing.T) []byte {
		return func(t *testing.T) []byte {
			var text bytes.Buffer
			if err := sim.WriteShape(&text, name, reads, 100, 1); err != nil {
				t.Fatal(err)
			}
			return text.Bytes()
		}
	}
	genome := func(t *testing.T) []byte {
		g := sim.Invent(sim.GenomeConfig{Size: 6_600_000, Contigs: 1, Repeats: 0.1, Seed: 1})
		s, err := sim.New(sim.Config{Genome: g, Reads: reads, NRate: 0.0001, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := s.All()
		return text
	}
	for _, c := range []struct {
		name    string
		text    func(t *testing.T) []byte
		mib     int
		options []string
	}{
		{"genome", genome, 128, nil},
		{"genome, sequences", genome, 128, []string{"--reads-only", "--order", "any"}},
		{"chimera", shape("chimera"), 256, nil},
		{"stutter", shape("stutter"), 256, nil},
		{"shared24", shape("shared24"), 256, nil},
		{"allN", shape("allN"), 256, nil},
		{"thirdN", shape("thirdN"), 256, nil},
		{"thirdN, sequences", shape("thirdN"), 256, []string{"--reads-only", "--order", "any"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Run("steps", func(t *testing.T) { checkPeaks(t, c.text(t), c.mib<<20, c.options...) })
			t.Run("archive", func(t *testing.T) { checkArchivePeak(t, c.text(t), c.mib<<20, c.options...) })
		})
	}
}

// TestLargeSlices: archives whose slices take more than --memory are refused before anything is written, with how much is needed, and
// that is enough. Pairs of which a mate takes as much memory as --memory has room for are among them.
func TestLargeSlices(t *testing.T) {
	testrun.NotShort(t)
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	dir := t.TempDir()
	var text bytes.Buffer
	if err := sim.WriteShape(&text, "identical", 150_000, 100, 1); err != nil {
		t.Fatal(err)
	}
	in := []string{filepath.Join(dir, "r_R1.fastq"), filepath.Join(dir, "r_R2.fastq")}
	for _, path := range in {
		if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "archive", "-q", in[0], filepath.Join(dir, "one"))
	mustRun(t, "archive", "-q", in[0], in[1], filepath.Join(dir, "pair"))
	out := filepath.Join(dir, "out")
	for _, args := range [][]string{{"unpack", "one", "-o", out}, {"unpack", "pair", "-o", out}, {"unpack", "pair", "-o", out, "--interleave"},
		{"verify", "pair"}} {
		args[1] = filepath.Join(dir, args[1])
		status, errs := runHere(append(args, "--memory", "96MB", "-q")...)
		m := regexp.MustCompile(`\.cdna: to decode a slice of it takes --memory ((\d+)MB) or more, not 96MB\n$`).FindStringSubmatch(errs)
		if status != 1 || m == nil {
			t.Fatalf("%q: status %d, %q", args, status, errs)
		}
		if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: there is something where nothing was restored: %v", args, err)
		}
		mb, _ := strconv.Atoi(m[2])
		peak := peakOf(t, append(args, "--memory", m[1], "-q", "-t", "2")...)
		t.Logf("%s: %d MB of %d", args[0], peak/1e6, mb)
		if peak > mb*12e5 {
			t.Errorf("%q: %d MB of memory in %d MB", args, peak/1e6, mb)
		}
		os.RemoveAll(out)
	}
}

// TestMemoryWithoutBases: likewise on 12 million reads without bases, whose places would take 60 MB if they had any.
func TestMemoryWithoutBases(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	testrun.OnlyLong(t)
	checkArchivePeak(t, bytes.Repeat([]byte(">\n"), 12_000_000), 96<<20)
	checkArchivePeak(t, bytes.Repeat([]byte(">\n>a\n"), 10_000_000), 96<<20)
}
