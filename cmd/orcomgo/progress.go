package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	// drawEvery is how often the bar is drawn anew, and lookEvery how often it is decided, where there is no terminal, whether a line
	// is printed.
	drawEvery = 150 * time.Millisecond
	lookEvery = time.Second
	// Where there is no terminal, the first line is printed after firstLine, so that logs of short runs are short, and then one for
	// each of so many parts of the whole, or every lineEvery, whatever comes first.
	firstLine = 10 * time.Second
	lineParts = 10
	lineEvery = 30 * time.Second
	// How long the rest takes is not said before there is so much to judge by.
	leftAfter = time.Second
	leftShare = 0.02
)

// progress shows how far a command is: by a bar for the stage on a terminal, else by lines, both with the share of the whole.
// Shares never fall, the time left is what is expected now, and what is over never appears again.
type progress struct {
	out      io.Writer
	warnings io.Writer // of notes that are warnings: --quiet does not silence them
	terminal bool
	colour   bool
	width    func() int // of the terminal, in characters
	now      func() time.Time
	log      *runLog
	stop     chan struct{}
	stopOnce sync.Once
	stopped  sync.WaitGroup

	mu     sync.Mutex
	began  time.Time
	stages []*stage
	group  int           // of the stages that run now
	share  float64       // of the whole, as far as it was shown
	left   time.Duration // negative if it is not known yet
	size   packSize      // of what is packed, about

	preparing float64   // seconds until something was done, which say nothing about the speed
	done, at  float64   // what was done, and since how many seconds after the beginning no more is
	drawn     bool      // there is a line on the terminal
	lineAt    time.Time // of the last line
	lineStep  int       // how many of lineParts were over at the last line
}

// stage is a part of a command.
type stage struct {
	stageModel
	done, total    uint64 // total 0: not known
	percent        int    // that was shown last
	began          time.Time
	started, ended bool
	printed        bool
	bar            *progressbar.ProgressBar // on a terminal that has room for one; its rate is that since the stage began
}

// newProgress starts to show on out how far the stages of a model are, and to log stages and notes; close ends it.
func newProgress(out io.Writer, terminal bool, model []stageModel, log *runLog) *progress {
	p := &progress{
		out: out, warnings: out, terminal: terminal && os.Getenv("TERM") != "dumb", colour: os.Getenv("NO_COLOR") == "", width: terminalWidth,
		now: time.Now, log: log, stop: make(chan struct{}),
	}
	p.prepare(model)
	every := lookEvery
	if p.terminal {
		every = drawEvery
	}
	p.stopped.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.show()
			case <-p.stop:
				return
			}
		}
	})
	return p
}

// terminalWidth returns the width of the terminal that standard error is.
func terminalWidth() int {
	if w, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil && w > 0 {
		return w
	}
	return 80
}

// prepare sets the stages that are expected.
func (p *progress) prepare(model []stageModel) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began, p.left = p.now(), -1
	for _, m := range model {
		p.stages = append(p.stages, &stage{stageModel: m})
	}
}

// report records that done of total units of the stage have been processed. It may be called often, from any goroutine. A report of
// less than an earlier one is ignored, and so is one of a stage that is over.
func (p *progress) report(name string, done, total uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stage(name)
	if s.ended || max(s.group, s.last) < p.group {
		return
	}
	s.done = max(s.done, done)
	if !s.started || total > s.total { // before it begins, what is expected may become less
		s.total = total
	}
	if total > 0 {
		s.done = min(s.done, s.total)
	}
	if s.started || done == 0 && s.group > p.group {
		return // some stages are reported with nothing done long before they begin
	}
	now := p.now()
	if s.group > p.group {
		p.group = s.group
		for _, other := range p.stages {
			switch {
			case max(other.group, other.last) < p.group && !other.ended:
				p.end(other, now)
			case other.group == p.group && other.total > 0:
				p.begin(other, now)
			}
		}
	}
	p.begin(s, now)
}

// begin records that a stage has started.
func (p *progress) begin(s *stage, now time.Time) {
	if !s.started {
		s.started, s.began = true, now
		if p.terminal {
			s.bar = p.newBar(s, p.width()-1)
		}
		p.log.event("stage begins", "stage", s.name, "total", s.total)
	}
}

// stage returns the stage of a name. One that the model does not have counts as one that runs beside the present ones, and takes no
// time.
func (p *progress) stage(name string) *stage {
	for _, s := range p.stages {
		if s.name == name {
			return s
		}
	}
	s := &stage{stageModel: stageModel{name: name, group: p.group}}
	p.stages = append(p.stages, s)
	return s
}

// sized records the size of what is packed.
func (p *progress) sized(reads, bases, coded, gzip uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size = packSize{reads, bases, coded, gzip}
}

// finish records that a stage is over, whatever its last report said.
func (p *progress) finish(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.stage(name); !s.ended {
		p.end(s, p.now())
	}
}

// warning begins a note that says that data may not be what they should be.
const warning = "WARNING: "

// note prints a line that is not about progress.
func (p *progress) note(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log.event("note", "text", oneLine(line))
	p.clear()
	out := p.out
	if strings.Contains(line, warning) {
		out = p.warnings
	}
	fmt.Fprintln(out, oneLine(line))
}

// pause removes the bar, so that something else may be printed, until the function that it returns is called.
func (p *progress) pause() (resume func()) {
	p.mu.Lock()
	p.clear()
	return p.mu.Unlock
}

// show draws the bar, or prints a line if it is time for one.
func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	var current *stage // the first that is not over, or is being prepared
	for _, s := range p.stages {
		if s.total > 0 && s.done >= s.total && s.started && !s.ended {
			p.end(s, now)
		}
		if current == nil && !s.ended {
			current = s
		}
	}
	if current == nil {
		return
	}
	known := p.estimate(now)
	switch {
	case p.terminal:
		fmt.Fprint(p.out, "\r", p.draw(current, known), "\x1b[K")
		p.drawn = true
	case now.Sub(p.began) < firstLine:
	case p.lineAt.IsZero() || now.Sub(p.lineAt) >= lineEvery || known && int(p.share*lineParts) > p.lineStep:
		p.lineAt, p.lineStep = now, int(p.share*lineParts)
		current.printed = true
		fmt.Fprintln(p.out, p.text(current, known))
	}
}

// costs returns how much of the work of all stages is done, and how much there is; 0 while nothing says so.
func (p *progress) costs() (done, all float64) {
	for _, s := range p.stages {
		cost := s.cost(s.total, p.size)
		switch {
		case s.costs != nil:
			var part float64
			part, cost = s.costs()
			s.done = max(s.done, uint64(float64(s.total)*part/max(cost, 1)))
			done += part
		case s.started && !s.ended && s.total == 0:
			return 0, 0
		case s.total > 0:
			done += cost * float64(s.done) / float64(s.total)
		case s.ended:
			cost = 0 // there was nothing to do
		}
		all += cost
	}
	return done, all
}

// estimate brings the share of the whole and the time left up to date, and reports whether the share is known.
func (p *progress) estimate(now time.Time) bool {
	done, all := p.costs()
	took := now.Sub(p.began).Seconds()
	if all == 0 || took <= 0 {
		return all > 0
	}
	p.share = max(p.share, min(done/all, 0.99))
	if done == 0 {
		p.preparing = took
	}
	if done != p.done {
		p.done, p.at = done, took
	}
	if took >= leftAfter.Seconds() && p.share >= leftShare && done > 0 {
		// While nothing more is done, what is in work is nearer to its end, but if that lasts long the time left must rise.
		each := (all - done) / done
		p.left = time.Duration(max(each*(p.at-p.preparing)-(took-p.at), each*(took-p.preparing)/2) * float64(time.Second))
	}
	return true
}

// end records that a stage is over, and prints how long it took if it was shown before.
func (p *progress) end(s *stage, now time.Time) {
	s.ended = true
	if !s.started {
		return
	}
	if s.total > 0 {
		s.done = s.total // some stages find out that they have less to do
	}
	took := now.Sub(s.began)
	p.log.event("stage ends", "stage", s.name, "done", s.done, "seconds", took.Seconds())
	if s.printed || p.terminal {
		p.clear()
		fmt.Fprintf(p.out, "%s: %s in %s, %s/s\n", s.name, s.unit.text(s.done), durationText(took), s.unit.text(rate(s.done, took)))
	}
}

// clear removes the bar from the terminal.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.drawn = false
}

// close stops showing progress and leaves the terminal's line empty. It may be called twice.
func (p *progress) close() {
	p.stopOnce.Do(func() { close(p.stop) })
	p.stopped.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.stages {
		if s.started && !s.ended && s.total > 0 && s.done >= s.total {
			p.end(s, p.now())
		}
	}
	p.clear()
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
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}
