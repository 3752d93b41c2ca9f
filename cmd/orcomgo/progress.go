package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	// drawEvery is how often a bar is drawn anew.
	drawEvery = 150 * time.Millisecond
	// lineEvery is how often a line of progress is printed where there is no terminal. A stage
	// that takes less is not mentioned there, so that logs are short.
	lineEvery = 10 * time.Second
)

// progress shows how far the stages of a command are: by a bar each on a terminal, else by a line
// every lineEvery. A nil progress shows nothing.
type progress struct {
	out      io.Writer
	terminal bool
	log      *runLog
	stop     chan struct{}
	stopOnce sync.Once
	stopped  sync.WaitGroup

	mu     sync.Mutex
	stages []*stage // by the time of their first report
	shown  *stage   // whose bar is on the terminal
}

type stage struct {
	name           string
	done, total    uint64 // total 0: not known
	began          time.Time
	printed, ended bool
	bar            *progressbar.ProgressBar
}

// newProgress starts to show progress on out, and to log stages and notes; close ends it.
func newProgress(out io.Writer, terminal bool, log *runLog) *progress {
	p := &progress{out: out, terminal: terminal, log: log, stop: make(chan struct{})}
	every := lineEvery
	if terminal {
		every = drawEvery
	}
	p.stopped.Add(1)
	go func() {
		defer p.stopped.Done()
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.show(time.Now())
			case <-p.stop:
				return
			}
		}
	}()
	return p
}

// report records that done of total bytes of the stage have been processed. It may be called
// often, from any goroutine. A report of fewer bytes than an earlier one is ignored.
func (p *progress) report(name string, done, total uint64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.stages {
		if s.name == name {
			s.done, s.total = max(s.done, done), total
			return
		}
	}
	p.log.event("stage begins", "stage", name, "total", total)
	p.stages = append(p.stages, &stage{name: name, done: done, total: total, began: time.Now()})
}

// finish records that a stage is over, whatever its last report said.
func (p *progress) finish(name string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.stages {
		if s.name == name && !s.ended {
			p.end(s, time.Now())
		}
	}
}

// note prints a line that is not about progress.
func (p *progress) note(line string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log.event("note", "text", oneLine(line))
	p.clear()
	fmt.Fprintln(p.out, oneLine(line))
}

// show draws the bar, or prints the lines, of the stages.
func (p *progress) show(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var last *stage
	for _, s := range p.stages {
		switch {
		case s.ended:
		case s.total > 0 && s.done >= s.total:
			p.end(s, now)
		case p.terminal:
			last = s
		default:
			fmt.Fprintln(p.out, s.line(now))
			s.printed = true
		}
	}
	if last == nil {
		return
	}
	if p.shown != last {
		p.clear()
		p.shown = last
	}
	last.draw(p.out)
}

// end prints how long a stage took, if it was shown before.
func (p *progress) end(s *stage, now time.Time) {
	s.ended = true
	p.log.event("stage ends", "stage", s.name, "done", s.done, "seconds", now.Sub(s.began).Seconds())
	if p.shown == s {
		p.clear()
	}
	if s.printed || p.terminal {
		took := now.Sub(s.began)
		fmt.Fprintf(p.out, "%s: %s in %s, %s/s\n", s.name, bytesText(s.done), durationText(took), bytesText(rate(s.done, took)))
	}
}

// clear removes the bar from the terminal.
func (p *progress) clear() {
	if p.shown != nil && p.shown.bar != nil {
		p.shown.bar.Clear()
	}
	p.shown = nil
}

// close stops showing progress and leaves the terminal's line empty. It may be called twice.
func (p *progress) close() {
	if p == nil {
		return
	}
	p.stopOnce.Do(func() { close(p.stop) })
	p.stopped.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.stages {
		if !s.ended && s.total > 0 && s.done >= s.total {
			p.end(s, time.Now())
		}
	}
	p.clear()
}

// line is the state of a stage as a line of text.
func (s *stage) line(now time.Time) string {
	took := now.Sub(s.began)
	speed := rate(s.done, took)
	if s.total == 0 {
		return fmt.Sprintf("%s: %s, %s/s", s.name, bytesText(s.done), bytesText(speed))
	}
	left := "?"
	if speed > 0 {
		left = durationText(time.Duration(float64(s.total-s.done) / float64(speed) * float64(time.Second)))
	}
	return fmt.Sprintf("%s: %s of %s (%d %%), %s/s, %s left", s.name, bytesText(s.done), bytesText(s.total),
		uint64(float64(s.done)/float64(s.total)*100), bytesText(speed), left)
}

func (s *stage) draw(out io.Writer) {
	most := int64(s.total)
	if s.total == 0 {
		most = -1
	}
	if s.bar == nil {
		s.bar = progressbar.NewOptions64(most,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetDescription(s.name),
			progressbar.OptionShowBytes(true),
			progressbar.OptionShowCount(),
			progressbar.OptionShowTotalBytes(true),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetWidth(24),
			progressbar.OptionThrottle(drawEvery/2))
	} else if s.bar.GetMax64() != most {
		s.bar.ChangeMax64(most)
	}
	s.bar.Set64(int64(s.done))
}

func rate(n uint64, took time.Duration) uint64 {
	if took <= 0 {
		return 0
	}
	return uint64(float64(n) / took.Seconds())
}

// durationText writes a time for people: 0.31 s, 12.5 s, 3m07s, 2h05m.
func durationText(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d < 100*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}
