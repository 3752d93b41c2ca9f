package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"orcomgo/cmd/simreads/sim"
	"orcomgo/internal/testrun"
)

// seenLeft is what a line on a terminal says.
type seenLeft struct {
	at    time.Duration // since the start
	used  time.Duration // of ownTime, by then
	share int           // of the whole, in percent
	left  time.Duration
}

// ownTime adds up how long a process would have taken until now if it had as many processors as it wants, of two: a tick counts as much as
// its threads were on processors, by how many of them were, or waited for one.
type ownTime struct {
	at        time.Time
	run, wait time.Duration // of all threads
	sum       time.Duration
}

// look adds what was since the last call. A process that has ended stays as it was.
func (o *ownTime) look(pid int) {
	var run, wait, waits int64
	now := time.Now()
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, path := range threads {
		text, _ := os.ReadFile(path)
		var r, w int64
		if n, _ := fmt.Sscan(string(text), &r, &w, &waits); n == 3 {
			run, wait = run+r, wait+w
		}
	}
	if tick := now.Sub(o.at); tick > 10*time.Millisecond && time.Duration(run) > o.run {
		ran := time.Duration(run) - o.run
		at := float64(ran+time.Duration(wait)-o.wait) / float64(tick) // threads that ran or waited
		o.sum += time.Duration(float64(ran) / min(max(at, 1), 2))
		o.at, o.run, o.wait = now, time.Duration(run), time.Duration(wait)
	}
}

// lineRate is the speed of a stage that counts bytes.
var lineRate = regexp.MustCompile(`, [0-9.]+ .?B/s\)`)

// onTerminal runs a command with a pseudo-terminal of 100 columns as standard error. It returns the lines that say how much time is left,
// all that was shown, how long the command took, and its ownTime.
func onTerminal(t *testing.T, args ...string) (seen []seenLeft, shown string, took, used time.Duration) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	slave, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), playedBy(t, "orcomgo"), args...)
	cmd.Stderr, cmd.Env = slave, append(os.Environ(), "TERM=xterm", "NO_COLOR=1")
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	own := ownTime{at: began}
	var all bytes.Buffer
	piece := make([]byte, 1<<16)
	for {
		k, err := master.Read(piece) // an error once the command has ended
		all.Write(piece[:k])
		own.look(cmd.Process.Pid)
		for line := range strings.FieldsFuncSeq(string(piece[:k]), func(r rune) bool { return r == '\r' || r == '\n' }) {
			if m := sessionBar.FindStringSubmatch(escapes.ReplaceAllString(line, "")); m != nil {
				share, _ := strconv.Atoi(m[2])
				if left, err := timeLeftOf(m[3]); err == nil { // else it is not known yet
					seen = append(seen, seenLeft{time.Since(began), own.sum, share, left})
				}
			}
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, all.String())
	}
	return seen, all.String(), time.Since(began), own.sum
}

// TestTimeLeft: on a terminal, the time left is about what is really left, in lines after the first tenth of the time. Nobody knows what
// other processes will do, so the truth is how long what is left takes if the command goes on to get as much of the processors as so far.
func TestTimeLeft(t *testing.T) {
	testrun.NotShort(t)
	dir := t.TempDir()
	millions := testrun.Pick(0, 10, 40) // of bases of an input
	write := func(name string, c sim.Config, bases int) {
		c.Genome = sim.Invent(sim.GenomeConfig{Size: bases / 30, Repeats: 0.1})
		c.Reads = uint64(bases / c.Length)
		s, err := sim.New(c)
		if err != nil {
			t.Fatal(err)
		}
		r1, r2 := s.All()
		for suffix, text := range map[string][]byte{"1": r1, "2": r2} {
			if text != nil {
				put(t, dir, map[string][]byte{name + suffix + ".fastq": text})
			}
		}
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(path("all"), 0o777), os.MkdirAll(path("mixed/run"), 0o777)); err != nil {
		t.Fatal(err)
	}
	type run struct {
		name, out string
		share     float64 // of lines that must be right
		inputs    []string
	}
	write("short_R", sim.Config{Length: 100, Quality: sim.Levels41}, millions*1e6)
	runs := []run{{"short reads", "short_R1", 0.67, []string{path("short_R1.fastq")}}}
	if testrun.Long() {
		nanopore := sim.Config{Length: 9000, Long: true, Quality: sim.Nanopore, Indels: 0.025}
		write("pair_R", sim.Config{Length: 150, Paired: true, Quality: sim.Levels4}, millions*1e6)
		write("long", nanopore, millions*1e6)
		write("hifi", sim.Config{Length: 9000, Long: true, Quality: sim.HiFi, Indels: 0.002}, millions*1e6)
		for i := range 4 {
			write(fmt.Sprintf("all/s%d_", i), sim.Config{Length: 100, Quality: sim.Levels41, Seed: uint64(i)}, millions/10*1e6*(i+1))
		}
		// Half of the work of this one is in side files.
		write("mixed/long", nanopore, millions/4*1e6)
		write("mixed/short", sim.Config{Length: 100, Quality: sim.Levels41}, millions/4*1e6)
		for _, name := range []string{"mixed/long1.fastq", "mixed/short1.fastq"} {
			if out, err := exec.Command("gzip", path(name)).CombinedOutput(); err != nil {
				t.Fatal(err, string(out))
			}
		}
		var table, text bytes.Buffer
		for i := range 200_000 {
			fmt.Fprintf(&table, "%d\tread_%d\t%.3f\t%d\n", i, i*7919%100_003, math.Sqrt(float64(i*i%9973)), i%17)
			fmt.Fprintf(&text, "step %d of run %x took %d ms and ended with status %d\n", i, i*i, i*31%977, i%5)
		}
		put(t, dir, map[string][]byte{"mixed/run/table.tsv": table.Bytes(), "mixed/run/log.txt": text.Bytes()})
		runs = append(runs, run{"pairs", "pair", 0.67, []string{"-1", path("pair_R1.fastq"), "-2", path("pair_R2.fastq")}},
			run{"nanopore", "long1", 0.5, []string{path("long1.fastq")}}, // of three slices, the last one alone for a while
			run{"nanopore in small slices", "long1", 0.67, []string{path("long1.fastq"), "--slice-size", "8MB"}},
			run{"HiFi", "hifi1", 0.5, []string{path("hifi1.fastq")}},
			run{"directory", "", 0.67, []string{path("all")}}, run{"mixed directory", "", 0.3, []string{path("mixed")}})
	}
	busy := testrun.Pick(0, 0, 2)
	for other := 0; other <= busy; other += 2 { // other processes that compute
		for range other {
			c := exec.Command("sh", "-c", "while :; do :; done")
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		}
		for _, r := range runs {
			if only := os.Getenv("ONLY_RUN"); only != "" && r.name != only {
				continue
			}
			out := path(fmt.Sprint(r.name, other))
			commands := [][]string{append(append([]string{"archive"}, r.inputs...), out),
				{"verify", filepath.Join(out, r.out)}, {"unpack", filepath.Join(out, r.out), "-o", path(fmt.Sprint("restored ", r.name, other))}}
			if r.name == "pairs" {
				commands = append(commands, append(append([]string{"bin"}, r.inputs...), out+" bins"), []string{"pack", out + " bins"})
			}
			for _, args := range commands {
				seen, shown, took, used := onTerminal(t, append(args, "-t", "2")...)
				judgeLeft(t, fmt.Sprintf("%s of %s beside %d processes", args[0], r.name, other), r.share, seen, took, used)
				if took > 3*time.Second && !lineRate.MatchString(shown) {
					t.Errorf("%s of %s shows no rate", args[0], r.name)
				}
			}
		}
	}
}

// judgeLeft fails unless a share of lines says about how long a command went on, give or take the second to which they are rounded: within
// 0.75 to 1.33 of the truth, or where a command takes a few seconds, within 0.5 to 2.
func judgeLeft(t *testing.T, what string, share float64, seen []seenLeft, took, used time.Duration) {
	t.Helper()
	least, most := testrun.Pick(0, 0.5, 0.75), testrun.Pick(0, 2, 1/0.75)
	good, ratios := 0, []float64{}
	for i, s := range seen {
		if i > 0 && s.share < seen[i-1].share {
			t.Errorf("%s: the whole is at %d %% after %d %%", what, s.share, seen[i-1].share)
		}
		truth := (used - s.used).Seconds() * s.at.Seconds() / max(s.used.Seconds(), 0.01)
		if s.at < max(took/10, 1500*time.Millisecond) || truth < 1 {
			continue
		}
		left := s.left.Seconds()
		ratios = append(ratios, left/truth)
		if left >= truth*least-1 && left <= truth*most+1 {
			good++
		}
	}
	all := len(ratios)
	if all < 10 {
		if took > 5*time.Second {
			t.Errorf("%s took %s, and %d lines said how long it would take", what, took, all)
		}
		return
	}
	slices.Sort(ratios)
	t.Logf("%s, %.1f s: %d of %d lines are right, ratios to the truth from %.2f to %.2f, half of them below %.2f", what, took.Seconds(),
		good, all, ratios[all/20], ratios[all-1-all/20], ratios[all/2])
	if float64(good) < share*float64(all) {
		t.Errorf("%s: that is wrong", what)
	}
}
