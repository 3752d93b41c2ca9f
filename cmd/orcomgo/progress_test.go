package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// unwatched returns progress that is shown only when the test says so.
func unwatched(out *bytes.Buffer, terminal bool) *progress {
	return &progress{out: out, terminal: terminal, stop: make(chan struct{})}
}

func TestProgressLines(t *testing.T) {
	var out bytes.Buffer
	p := unwatched(&out, false)
	p.report("binning", 0, 1000_000)
	p.stages[0].began = time.Now().Add(-10 * time.Second)
	p.report("binning", 250_000, 1000_000)
	p.report("binning", 200_000, 1000_000) // late
	p.show(p.stages[0].began.Add(10 * time.Second))
	p.report("binning", 1000_000, 1000_000)
	p.report("brief", 5, 5)
	p.close()
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 3 || lines[0] != "binning: 250 kB of 1.00 MB (25 %), 25.0 kB/s, 30.0 s left" ||
		!strings.HasPrefix(lines[1], "binning: 1.00 MB in ") {
		t.Errorf("%q", lines)
	}
}

func TestProgressBar(t *testing.T) {
	var out bytes.Buffer
	p := unwatched(&out, true)
	p.report("binning", 10, 100)
	began := p.stages[0].began
	p.show(began.Add(10 * time.Millisecond))
	p.report("stdin", 10, 0)
	p.show(began.Add(20 * time.Millisecond))
	p.report("binning", 100, 100)
	p.show(began.Add(30 * time.Millisecond))
	p.close()
	text := out.String()
	if !strings.Contains(text, "binning  10%") || !strings.Contains(text, "(10/100 B") {
		t.Errorf("no bar: %q", text)
	}
	if !strings.Contains(text, "binning: 100 B in 0.03 s") {
		t.Errorf("no last word: %q", text)
	}
	if !strings.HasSuffix(text, "\r") {
		t.Errorf("the bar is not cleared: %q", text)
	}
}

func TestNotes(t *testing.T) {
	var out bytes.Buffer
	p := unwatched(&out, true)
	p.report("binning", 10, 100)
	p.show(time.Now())
	p.note("one\nline")
	p.close()
	if !strings.HasSuffix(out.String(), "\rone\\nline\n") {
		t.Errorf("%q", out.String())
	}
}

func TestNoProgress(t *testing.T) {
	var p *progress
	p.note("unheard")
	p.report("binning", 1, 2)
	p.close()
}

func TestProgressFromManyGoroutines(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, true, nil)
	var all sync.WaitGroup
	for i := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for n := range 1000 {
				p.report([]string{"a", "b"}[i%2], uint64(n), 999)
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
}
