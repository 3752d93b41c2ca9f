//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orcomgo/internal/testrun"
)

// patience is how long a test waits for a child on a machine that has much else to do.
const patience = 5 * time.Minute

// ends are the signals that end a command, the exit status, and the line about it.
var ends = []struct {
	signal syscall.Signal
	status int
	line   string
}{
	{syscall.SIGINT, 130, "orcomgo: interrupted\n"},
	{syscall.SIGTERM, 143, "orcomgo: ended by signal: terminated\n"},
	{syscall.SIGHUP, 129, "orcomgo: ended by signal: hangup\n"},
}

// said returns what an interrupted command printed, without the line of one that does not end at once.
func said(text string) string { return strings.TrimPrefix(text, "orcomgo: interrupting\n") }

// notIgnored makes children start with the default action of the signals, even if make or
// nohup had them ignored.
func notIgnored(t *testing.T) {
	for _, e := range ends {
		if signal.Ignored(e.signal) {
			c := make(chan os.Signal, 1)
			signal.Notify(c, e.signal)
			t.Cleanup(func() { signal.Stop(c) })
		}
	}
}

// feed returns a named pipe that is open for writing too, so that it has no end.
func feed(t *testing.T) (path string, w *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return path, w
}

// fill writes records to a pipe, more than it holds: once that is done the reader has started.
func fill(t *testing.T, w *os.File) string {
	t.Helper()
	text := strings.Repeat("@a\nACGT\n+\nIIII\n", 20_000)
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return text
}

// A signal ends the command with its status, one line and no archive, even while it waits
// for input that doesn't come.
func TestSignalsWhileWaiting(t *testing.T) {
	notIgnored(t)
	for _, end := range ends {
		for _, how := range []string{"standard input", "named pipe"} {
			t.Run(fmt.Sprintf("%s, %s", end.signal, how), func(t *testing.T) {
				t.Parallel()
				fifo, w := feed(t)
				out := filepath.Join(t.TempDir(), "out")
				cmd := exec.Command(playedBy(t, "orcomgo"), "bin", fifo, out)
				if how == "standard input" {
					cmd.Args[2], cmd.Stdin = "-", w
				}
				var errs bytes.Buffer
				cmd.Stderr = &errs
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
				defer timer.Stop()
				fill(t, w)
				if err := cmd.Process.Signal(end.signal); err != nil {
					t.Fatal(err)
				}
				cmd.Wait()
				see(errs.String())
				if got := cmd.ProcessState.ExitCode(); got != end.status || said(errs.String()) != end.line {
					t.Errorf("status %d, want %d: %q", got, end.status, errs.String())
				}
				nothingIn(t, out)
			})
		}
	}
}

// TestAbandoned: a command that does not look at its context ends soon after a signal all the same, says so first, and leaves nothing.
func TestAbandoned(t *testing.T) {
	notIgnored(t)
	dir := t.TempDir()
	sheet, out := filepath.Join(dir, "sheet"), filepath.Join(dir, "out")
	if err := syscall.Mkfifo(sheet, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd, errs := child(t, "archive", "--samples", sheet, out)
	w, err := os.OpenFile(sheet, os.O_WRONLY, 0) // when the command opens it, too; it then reads until w is closed
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cmd.Process.Signal(syscall.SIGTERM)
	began := time.Now()
	cmd.Wait()
	if got, want := errs.String(), "orcomgo: interrupting\norcomgo: ended by signal: terminated\n"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if status := cmd.ProcessState.ExitCode(); status != 143 {
		t.Errorf("status %d", status)
	}
	if took := time.Since(began); took < abortAfter || took > abortPatience {
		t.Errorf("it ended after %s", took)
	}
	nothingIn(t, out)
}

// TestInterruptedAtOnce: of 900 MB, every stage ends within a second of a signal.
func TestInterruptedAtOnce(t *testing.T) {
	testrun.OnlyLong(t)
	notIgnored(t)
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 1_800_000)
	args := []string{"archive", "--quiet", "--no-verify", "-1", r1, "-2", r2, filepath.Join(dir, "out")}
	takes := timed(t, append([]string{}, args...)...)
	for i := range 20 {
		if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
			t.Fatal(err)
		}
		cmd, errs := child(t, args...)
		time.Sleep(takes * time.Duration(i) / 20)
		cmd.Process.Signal(syscall.SIGINT)
		began := time.Now()
		cmd.Wait()
		if cmd.ProcessState.ExitCode() == 0 {
			continue // it ended before the signal, faster than when it was timed
		}
		if took := time.Since(began); took > 1200*time.Millisecond && cmd.ProcessState.ExitCode() == 130 {
			t.Errorf("after %d/20 of its time it ended only %s after the signal: %s", i, took, errs)
		}
		nothingIn(t, filepath.Join(dir, "out"))
	}
}

// nothingIn fails if there is something in a directory, hidden or not.
func nothingIn(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, f := range left {
		t.Errorf("left behind: %s", f.Name())
	}
}

// Under nohup a hangup changes nothing.
func TestHangupIgnored(t *testing.T) {
	fifo, w := feed(t)
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command("sh", "-c", `trap "" HUP; exec "$0" "$@"`, playedBy(t, "orcomgo"), "bin", "--quiet", fifo, out)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer timer.Stop()
	text := fill(t, w)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	text += fill(t, w)
	w.Close() // the end of the input
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	mustRun(t, "unpack", "--quiet", out, "-o", restored)
	for name, got := range contents(t, restored) {
		if string(got) != text {
			t.Errorf("%s: %d bytes of %d", name, len(got), len(text))
		}
	}
}

// A command that a signal ends at any moment leaves nothing of its own behind, and all that
// was there before.
func TestSignalsLeaveNothing(t *testing.T) {
	notIgnored(t)
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 800)
	binned := filepath.Join(dir, "binned")
	mustRun(t, "bin", "--quiet", "-1", r1, "-2", r2, binned)
	packed := filepath.Join(dir, "packed")
	restored := filepath.Join(dir, "restored")
	archived := filepath.Join(dir, "archived")
	for _, c := range []struct {
		name   string
		before string // what is in the output directory, or ""
		args   []string
		after  string // what the command leaves when nothing ends it
	}{
		{"bin", "", []string{"bin", "--quiet", "-1", r1, "-2", r2}, binned},
		{"pack", binned, []string{"pack", "--quiet"}, packed},
		{"archive", "", []string{"archive", "--quiet", "-1", r1, "-2", r2}, archived},
		{"unpack", "", []string{"unpack", "--quiet", binned, "-o"}, restored},
	} {
		fresh := func(out string) {
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
			if c.before != "" {
				if err := os.CopyFS(out, os.DirFS(c.before)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if c.after != binned {
			fresh(c.after)
		}
		whole := c.after
		if whole == binned {
			whole = filepath.Join(dir, "binned-again")
		}
		takes := timed(t, append(c.args, whole)...)
		want := contents(t, c.after)
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			ended := 0
			for i := 0; i < max(9, kills()/4) || ended == 0 && i < 200; i++ {
				out := filepath.Join(dir, "out")
				fresh(out)
				end := ends[i%len(ends)]
				cmd, errs := child(t, append(c.args, out)...)
				time.Sleep(time.Duration(r.Float64() * float64(takes)))
				cmd.Process.Signal(end.signal)
				timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
				cmd.Wait()
				timer.Stop()
				state := cmd.ProcessState
				switch status := state.Sys().(syscall.WaitStatus); {
				case state.Success():
					same(t, contents(t, out), want)
				case state.ExitCode() == end.status && said(errs.String()) == end.line:
					ended++
					if c.before != "" {
						same(t, contents(t, out), contents(t, c.before))
					} else {
						nothingIn(t, out)
					}
				case status.Signaled() && status.Signal() == end.signal: // before it could do anything
				default:
					t.Fatalf("%s: %v: %s", end.signal, state, errs)
				}
			}
			t.Logf("%d were ended", ended)
			if ended == 0 {
				t.Error("no signal came in time to matter")
			}
		})
	}
}
