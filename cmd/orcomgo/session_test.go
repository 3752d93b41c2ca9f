package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"orcomgo/internal/testrun"
)

// terminalFrame is what a terminal showed at a time after the start: all lines since then, without those that are empty at the end.
type terminalFrame struct {
	at    time.Duration
	lines []string
}

// TestTerminalSession runs each stage in a terminal of tmux and checks what that shows with checkSession. With ORCOMGO_SESSION=FILE it
// archives that file of reads instead, and appends the session to FILE.session.
func TestTerminalSession(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	reads, every, commands := os.Getenv("ORCOMGO_SESSION"), 10*time.Second, []string{"archive", "unpack", "verify"}
	var record *os.File
	dir := t.TempDir()
	if reads != "" {
		info, err := os.Stat(reads)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() < 1<<30 {
			every, commands = time.Second, []string{"bin", "pack", "verify", "unpack", "archive"}
		}
		if record, err = os.OpenFile(reads+".session", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666); err != nil {
			t.Fatal(err)
		}
		defer record.Close()
		dir = filepath.Dir(reads)
	} else {
		testrun.OnlyLong(t)
		reads, _ = simulated(t, dir, 40_000)
		commands = []string{"bin", "pack", "verify", "unpack", "archive"}
	}
	program := playedBy(t, "orcomgo")
	made := ""
	for _, command := range commands {
		args := map[string]string{
			"bin": filepath.Base(reads) + " o/", "pack": "o/", "verify": "o/", "unpack": "o/ -o r/", "archive": filepath.Base(reads) + " p/",
		}[command]
		if made == "" && command == "archive" {
			args = strings.Replace(args, "p/", "o/", 1)
		}
		made = "o/"
		frames, err := inTerminal(t, dir, program, command+" "+args)
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		if record != nil {
			fmt.Fprint(record, sessionText("orcomgo "+command+" "+args, frames, every))
		}
		bars, err := checkSession(frames)
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		t.Logf("%s: %d frames, %d with a bar", command, len(frames), bars)
		if bars == 0 && command == "archive" {
			t.Error("no frame of archive has a bar")
		}
	}
}

// inTerminal runs a command in dir in a terminal of 100 columns and returns what that showed, several times a second.
func inTerminal(t *testing.T, dir, program, args string) ([]terminalFrame, error) {
	t.Helper()
	place := t.TempDir()
	socket, status := filepath.Join(place, "s"), filepath.Join(place, "status")
	tmux := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).Output()
		return string(out), err
	}
	shell := fmt.Sprintf("cd '%s' && '%s' %s; echo $? > '%s'; exec sleep 3600", dir, program, args, status)
	if _, err := tmux("new-session", "-d", "-x", "100", "-y", "40", shell); err != nil {
		return nil, err
	}
	defer tmux("kill-server")
	var frames []terminalFrame
	for began, ended := time.Now(), false; !ended; time.Sleep(100 * time.Millisecond) {
		code, err := os.ReadFile(status)
		ended = err == nil && len(code) > 0
		if ended && strings.TrimSpace(string(code)) != "0" {
			return frames, fmt.Errorf("exit status %s", code)
		}
		text, err := tmux("capture-pane", "-p", "-S", "-", "-t", "0")
		if err != nil {
			return frames, err
		}
		f := terminalFrame{time.Since(began), nil}
		if text = strings.TrimRight(text, " \n"); text != "" {
			f.lines = strings.Split(text, "\n")
		}
		frames = append(frames, f)
	}
	return frames, nil
}

var (
	sessionBar   = regexp.MustCompile(`^([a-z][a-z -]*?)(?: \d+ %)?, whole (\d+|\?) %, (.*?) left(?: +(\d+)% \|#*-*\|.*)?$`)
	sessionDone  = regexp.MustCompile(`^([a-z][a-z -]*): \S.* in \S.*, \S.*/s$`)
	timeLeftText = regexp.MustCompile(`^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+) ?s)?$`)
	ofABar       = regexp.MustCompile(`\|[#-]{2,}|whole +[\d?]+ %| left\b`)
)

// checkSession checks that only the last line is ever a bar, that lines above it stay, that a bar shares its line with nothing else, that
// no stage is shown after its end, that shares never fall, and that the time left stays known. It returns how many frames have a bar.
func checkSession(frames []terminalFrame) (bars int, err error) {
	ended, share, whole, known := map[string]bool{}, map[string]int{}, 0, false
	var before []string // lines that stay, of the frame before
	for _, f := range frames {
		bad := func(format string, args ...any) (int, error) {
			return bars, fmt.Errorf("after %.1f s: %s, in:\n%s", f.at.Seconds(), fmt.Sprintf(format, args...), strings.Join(f.lines, "\n"))
		}
		stay := f.lines
		var bar []string
		if n := len(stay); n > 0 {
			if bar = sessionBar.FindStringSubmatch(stay[n-1]); bar != nil {
				stay = stay[:n-1]
			}
		}
		for i, line := range stay {
			if i < len(before) && line != before[i] {
				return bad("line %d was %q", i+1, before[i])
			}
			if ofABar.MatchString(line) {
				return bad("a line that stays has parts of a bar: %q", line)
			}
			if m := sessionDone.FindStringSubmatch(line); m != nil {
				if i >= len(before) && ended[m[1]] {
					return bad("%s ends twice", m[1])
				}
				ended[m[1]] = true
			}
		}
		if len(stay) < len(before) {
			return bad("%d lines stay, there were %d", len(stay), len(before))
		}
		before = stay
		if bar == nil {
			continue
		}
		bars++
		if ended[bar[1]] {
			return bad("%s was over", bar[1])
		}
		if n, err := strconv.Atoi(bar[4]); err == nil {
			if n < share[bar[1]] {
				return bad("the share of %s was %d %%", bar[1], share[bar[1]])
			}
			share[bar[1]] = n
		}
		if n, err := strconv.Atoi(bar[2]); err == nil {
			if n < whole {
				return bad("the share of the whole was %d %%", whole)
			}
			whole = n
		}
		if bar[3] == "?" {
			if known {
				return bad("the time left was known")
			}
			continue
		}
		if _, err := timeLeftOf(bar[3]); err != nil {
			return bad("%v", err)
		}
		known = true
	}
	return bars, nil
}

// timeLeftOf reads a time as a bar shows it.
func timeLeftOf(text string) (d time.Duration, err error) {
	m := timeLeftText.FindStringSubmatch(text)
	if m == nil || text == "" {
		return 0, errors.New("no time: " + text)
	}
	for i, unit := range []time.Duration{time.Hour, time.Minute, time.Second} {
		if m[i+1] != "" {
			n, _ := strconv.Atoi(m[i+1]) // digits
			d += time.Duration(n) * unit
		}
	}
	return d, nil
}

// sessionText returns frames as text: lines that stay when they appear, marked with "=", and between them the bar every so often.
func sessionText(command string, frames []terminalFrame, every time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "    $ %s\n", command)
	stayed, shown := 0, time.Duration(0)
	for _, f := range frames {
		lines, bar := f.lines, ""
		if n := len(lines); n > 0 && sessionBar.MatchString(lines[n-1]) {
			lines, bar = lines[:n-1], lines[n-1]
		}
		for ; stayed < len(lines); stayed++ {
			fmt.Fprintf(&b, "    %6.1f s= %s\n", f.at.Seconds(), strings.TrimRight(lines[stayed], " "))
		}
		if bar != "" && f.at-shown >= every {
			fmt.Fprintf(&b, "    %6.1f s  %s\n", f.at.Seconds(), bar)
			shown = f.at
		}
	}
	return b.String() + "\n"
}

// TestCheckSession: checkSession finds each fault.
func TestCheckSession(t *testing.T) {
	const a = "joining contigs, whole 10 %, 20 s left  40% |###-----| (400/1000)"
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"good": {[]string{"", strings.Replace(a, "20 s", "1 s", 1),
			"bin: 1 B in 1.00 s, 1 B/s\n" + strings.Replace(a, "20 s", "3 s", 1)}, ""},
		"glued":            {[]string{"bin: 1 B in 1.00 s, 1 B/s" + a}, "parts of a bar"},
		"two bars":         {[]string{a + "\n" + a}, "parts of a bar"},
		"remains of a bar": {[]string{"bin: 1 B in 1.00 s, 1 B/s  20 s left"}, "parts of a bar"},
		"stage falls":      {[]string{a, strings.Replace(a, "40%", "39%", 1)}, "the share of joining contigs was 40 %"},
		"whole falls":      {[]string{a, strings.Replace(a, "10 %", "9 %", 1)}, "the share of the whole was 10 %"},
		"time is lost":     {[]string{a, strings.Replace(a, "20 s", "?", 1)}, "the time left was known"},
		"no time":          {[]string{strings.Replace(a, "20 s", "soon", 1)}, "no time: soon"},
		"again":            {[]string{"joining contigs: 1 read in 1.00 s, 1 read/s\n" + a}, "joining contigs was over"},
		"ends twice":       {[]string{"bin: 1 B in 1.00 s, 1 B/s\nbin: 1 B in 1.00 s, 1 B/s"}, "ends twice"},
		"changed":          {[]string{"one\n" + a, "two\n" + a}, `line 1 was "one"`},
		"lost":             {[]string{"one\n" + a, ""}, "0 lines stay, there were 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var frames []terminalFrame
			for _, text := range c.frames {
				f := terminalFrame{}
				if text != "" {
					f.lines = strings.Split(text, "\n")
				}
				frames = append(frames, f)
			}
			bars, err := checkSession(frames)
			switch {
			case c.want == "" && (err != nil || bars != 2):
				t.Errorf("%d bars, %v", bars, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
