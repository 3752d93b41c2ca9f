package main

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// scripted returns progress whose clock is that of the test, and that is shown only when the test says so.
func scripted(out *bytes.Buffer, terminal bool, width int, model ...stageModel) (*progress, *time.Time) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := &progress{out: out, terminal: terminal, width: func() int { return width }, now: func() time.Time { return clock },
		stop: make(chan struct{})}
	p.prepare(model)
	return p, &clock
}

var (
	wholeShare = regexp.MustCompile(`whole (\d+) %`)
	timeLeft   = regexp.MustCompile(`whole \d+ %, (?:(\d+) s|(\d+)m(\d+)s) left`)
	ofStage    = regexp.MustCompile(`^([a-z ]+?)(?: (\d+) %|,.* (\d+)% \|)`)
)

// packRun plays a run of pack: every quarter of a second a report, as packages make them, with stages beside each other, reports that
// are late, and stages that never reach their total.
func packRun(p *progress, clock *time.Time) {
	step := func() {
		*clock = clock.Add(250 * time.Millisecond)
		p.show()
	}
	p.sized(10_000, 1600_000, 570_000, 0)
	p.report("verify", 0, 4000_000)
	p.report("pack", 0, 4000_000)
	for i := uint64(0); i <= 98; i++ {
		p.report("joining contigs", i*100, 10_000)
		step()
	}
	for i := uint64(0); i <= 40; i++ {
		p.report("placing reads", i*250, 10_000)
		if i > 0 {
			p.report("joining contigs", 9900, 10_000)                   // over already
			p.report("placing reads", i*200, 10_000)                    // late
			p.report("placing reads again", 0, 10_000)                  // not started
			p.report("coding the pseudogenome", uint64(0), uint64(500)) // not started
		}
		step()
	}
	for i := uint64(0); i <= 60; i++ {
		p.report("coding the pseudogenome", min(i*20, 500), 500)
		p.report("pack", i*70_000, 4000_000)
		p.report("verify", min(i*50_000, 4000_000), 4000_000)
		step()
	}
	for i := uint64(60); i <= 80; i++ {
		p.report("verify", i*50_000, 4000_000)
		step()
	}
	p.close()
}

// TestProgressTells plays a run on terminals and on a pipe: shares only grow, the time left falls to nothing, a stage that is over does not
// come back, and lines fit.
func TestProgressTells(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		width    int
	}{{true, 120}, {true, 80}, {true, 40}, {true, 20}, {false, 0}} {
		var out bytes.Buffer
		p, clock := scripted(&out, c.terminal, c.width, packStages(false)...)
		packRun(p, clock)
		last, left, over, stage, percents := -1, 1<<30, map[string]bool{}, "", map[string]int{}
		seen := 0
		for line := range strings.FieldsFuncSeq(out.String(), func(r rune) bool { return r == '\r' || r == '\n' }) {
			line = strings.TrimSuffix(line, "\x1b[K")
			if c.terminal && utf8.RuneCountInString(line) > c.width-1 && !strings.Contains(line, " in ") {
				t.Errorf("width %d: %q is too long", c.width, line)
			}
			if m := wholeShare.FindStringSubmatch(line); m != nil {
				n, _ := strconv.Atoi(m[1])
				if n < last || n > 99 {
					t.Errorf("the whole is at %d %% after %d %%", n, last)
				}
				last = n
				seen++
			}
			if m := timeLeft.FindStringSubmatch(line); m != nil {
				s, _ := strconv.Atoi(m[1] + m[3])
				minutes, _ := strconv.Atoi("0" + m[2])
				left = s + 60*minutes
			}
			if m := ofStage.FindStringSubmatch(line); m != nil {
				n, _ := strconv.Atoi(m[2] + m[3])
				if over[m[1]] || n < percents[m[1]] {
					t.Errorf("%s is at %d %% again: %q", m[1], n, line)
				}
				percents[m[1]] = n
				if stage != m[1] {
					over[stage], stage = true, m[1]
				}
			}
		}
		if c.width != 20 && (seen < 5 || last < 90 || left > 6) {
			t.Errorf("width %d: %d shares, the last %d %%, %d s left", c.width, seen, last, left)
		}
		if c.terminal && strings.Count(out.String(), "joining contigs: ") != 1 {
			t.Errorf("width %d: the end of a stage is not told once", c.width)
		}
	}
}

// TestProgressLines: what a log gets, to the byte.
func TestProgressLines(t *testing.T) {
	var out bytes.Buffer
	p, clock := scripted(&out, false, 0, stageModel{name: "bin", unit: bytesUnit, group: 0, perUnit: 1},
		stageModel{name: "pack", unit: bytesUnit, group: 1, long: 1, coded: 3})
	p.sized(0, 0, 1000_000, 0)
	for range 100 {
		*clock = clock.Add(time.Second)
		seconds := uint64(clock.Second() + 60*clock.Minute())
		if seconds <= 20 {
			p.report("bin", seconds*50_000, 1000_000)
		} else {
			p.report("pack", (seconds-20)*12_500, 1000_000)
		}
		p.show()
	}
	p.close()
	want := `bin 50 %, 55.6 kB/s, whole 12 %, 1m10s left
bin 80 %, 53.3 kB/s, whole 20 %, 1m04s left
bin: 1.00 MB in 19.0 s, 52.6 kB/s
pack 7 %, 15.0 kB/s, whole 30 %, 59 s left
pack 20 %, 13.3 kB/s, whole 40 %, 54 s left
pack 33 %, 13.0 kB/s, whole 50 %, 47 s left
pack 47 %, 12.8 kB/s, whole 60 %, 38 s left
pack 60 %, 12.8 kB/s, whole 70 %, 30 s left
pack 73 %, 12.7 kB/s, whole 80 %, 20 s left
pack 87 %, 12.7 kB/s, whole 90 %, 10 s left
pack: 1.00 MB in 1m19s, 12.7 kB/s
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}

// TestProgressOfShortRuns: a run of a few seconds prints nothing to a log, and a pipe of unknown length says what it knows.
func TestProgressOfShortRuns(t *testing.T) {
	var out bytes.Buffer
	p, clock := scripted(&out, false, 0, binModel)
	for i := range 9 {
		*clock = clock.Add(time.Second)
		p.report("bin", uint64(i+1)*1000, 0)
		p.show()
	}
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
	for range 60 {
		*clock = clock.Add(time.Second)
		p.report("bin", 10_000, 0)
		p.show()
	}
	p.finish("bin")
	p.close()
	if text := out.String(); strings.Count(text, "\n") != 3 || !strings.HasPrefix(text, "bin 10.0 kB, whole ? %, ? left\n") {
		t.Errorf("%q", text)
	}
}

func TestProgressBar(t *testing.T) {
	for _, c := range []struct {
		width  int
		colour bool
		want   string
	}{
		{100, false, `\rbin, whole 79 %, 1 s left  79% \|#{23}-{7}\| \(79/100 MB, [0-9.]+ .B/s\) \x1b\[K`},
		{100, true, `\rbin, whole 79 %, 1 s left  79% \|(\x1b\[32m#\x1b\[0m){23}-{7}\| \(79/100 MB, [0-9.]+ .B/s\) \x1b\[0m\x1b\[K`},
		{60, false, `\rbin, whole 79 %, 1 s left  79% \|#{17}-{5}\|  \x1b\[K`},
		{40, false, `\rbin 79 %, whole 79 %, 1 s left\x1b\[K`},
		{12, false, `\rbin 79 %, w\x1b\[K`},
	} {
		var out bytes.Buffer
		p, clock := scripted(&out, true, c.width, binModel)
		p.colour = c.colour
		p.report("bin", 79_000_000, 100_000_000)
		*clock = clock.Add(time.Second)
		p.show()
		if !regexp.MustCompile("^" + c.want + "$").MatchString(out.String()) {
			t.Errorf("width %d: %q", c.width, out.String())
		}
		p.report("bin", 100_000_000, 100_000_000)
		*clock = clock.Add(time.Second)
		p.show()
		p.close()
		if !strings.HasSuffix(out.String(), "\r\x1b[Kbin: 100 MB in 2.00 s, 50.0 MB/s\n") {
			t.Errorf("the end: %q", out.String())
		}
	}
}

// TestTerminalVariables: NO_COLOR leaves colours out, and TERM=dumb is no terminal.
func TestTerminalVariables(t *testing.T) {
	for _, c := range []struct {
		noColor, term    string
		colour, terminal bool
	}{{"", "xterm", true, true}, {"1", "xterm", false, true}, {"", "dumb", true, false}} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		p := newProgress(new(bytes.Buffer), true, nil, nil)
		p.close()
		if p.colour != c.colour || p.terminal != c.terminal {
			t.Errorf("NO_COLOR=%s TERM=%s: colour %v, terminal %v", c.noColor, c.term, p.colour, p.terminal)
		}
	}
}

func TestNotes(t *testing.T) {
	var out bytes.Buffer
	p, _ := scripted(&out, true, 80, binModel)
	p.report("bin", 10, 100)
	p.show()
	p.note("one\nline")
	p.close()
	if !strings.HasSuffix(out.String(), "\r\x1b[Kone\\nline\n") {
		t.Errorf("%q", out.String())
	}
}

// TestQuietWarnings: --quiet shows warnings, also those of a sample, and no other notes.
func TestQuietWarnings(t *testing.T) {
	var out, warnings bytes.Buffer
	p, _ := scripted(&out, false, 80, binModel)
	p.warnings = &warnings
	p.note("one")
	p.note("liver: " + warning + "two")
	p.close()
	if out.String() != "one\n" || warnings.String() != "liver: WARNING: two\n" {
		t.Errorf("%q and %q", out.String(), warnings.String())
	}
}

func TestProgressFromManyGoroutines(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, true, nil, nil)
	var all sync.WaitGroup
	for i := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for n := range 1000 {
				p.report([]string{"a", "b"}[i%2], uint64(n), 9999)
			}
		}()
	}
	all.Wait()
	p.close()
	if p.stages[0].done != 999 || p.stages[1].done != 999 {
		t.Errorf("stages ended at %d and %d", p.stages[0].done, p.stages[1].done)
	}
}

func TestDurationText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		310 * time.Millisecond: "0.31 s", 12500 * time.Millisecond: "12.5 s", 187 * time.Second: "3m07s", 7500 * time.Second: "2h05m",
	} {
		if got := durationText(d); got != want {
			t.Errorf("%v prints as %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0 s", 310 * time.Millisecond: "1 s", 59*time.Second + 1: "1m00s", 187 * time.Second: "3m07s", 7500 * time.Second: "2h05m",
	} {
		if got := leftText(d); got != want {
			t.Errorf("%v left prints as %q, want %q", d, got, want)
		}
	}
}
