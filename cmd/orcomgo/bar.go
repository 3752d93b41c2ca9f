package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// unit is what a stage counts.
type unit int

const (
	bytesUnit unit = iota
	readsUnit
	basesUnit
)

// text writes a count with its unit.
func (u unit) text(n uint64) string {
	switch u {
	case readsUnit:
		return plural(n, "read")
	case basesUnit:
		return plural(n, "base")
	}
	return bytesText(n)
}

const (
	mostBar  = 30 // characters between the brackets of a bar
	leastBar = 8
	green    = "\x1b[32m"
	plain    = "\x1b[m"
)

// bar returns the state of a stage and of the whole as a line that fits the terminal.
func (p *progress) bar(s *stage, known bool) string {
	width := p.width() - 1 // terminals may begin a new line after the last character
	percent := "  ? %"
	if !s.started && s.total == 0 {
		percent = "  0 %"
	}
	if s.total > 0 {
		percent = fmt.Sprintf("%3d %%", s.share())
	}
	texts := []string{s.name, percent, s.counts(), p.whole(known)}
	length := func() (n int) {
		for _, t := range texts {
			if t != "" {
				n += utf8.RuneCountInString(t) + 2
			}
		}
		return n - 2
	}
	if length()+leastBar+4 > width {
		texts[2] = ""
	}
	bar, room := "", min(width-length()-4, mostBar)
	if s.total > 0 && room >= leastBar {
		full := int(float64(room) * float64(s.done) / float64(s.total))
		filled := strings.Repeat("#", full)
		if p.colour {
			filled = green + filled + plain
		}
		bar = "[" + filled + strings.Repeat("-", room-full) + "]"
	}
	var parts []string
	for _, t := range []string{texts[0], bar, texts[1], texts[2], texts[3]} {
		if t != "" {
			parts = append(parts, t)
		}
	}
	line := strings.Join(parts, "  ")
	if bar == "" && utf8.RuneCountInString(line) > width {
		line = string([]rune(line)[:max(width, 0)])
	}
	return line
}

// line returns the state of a stage and of the whole as a line of a log.
func (p *progress) line(s *stage, known bool, now time.Time) string {
	percent := "? %"
	switch {
	case !s.started:
		return fmt.Sprintf("%s: begins; %s", s.name, p.whole(known))
	case s.total > 0:
		percent = fmt.Sprintf("%d %%", s.share())
	}
	return fmt.Sprintf("%s: %s, %s, %s/s; %s", s.name, percent, s.counts(), s.unit.text(rate(s.done, now.Sub(s.began))), p.whole(known))
}

// share returns how much of a stage is done, in percent. It never falls.
func (s *stage) share() int {
	s.percent = max(s.percent, int(float64(s.done)/float64(s.total)*100))
	return s.percent
}

// counts says how much of how much is done.
func (s *stage) counts() string {
	switch {
	case !s.started && s.total == 0:
		return ""
	case s.total == 0:
		return s.unit.text(s.done)
	}
	if s.unit == bytesUnit {
		return bytesText(s.done) + " of " + bytesText(s.total)
	}
	return countText(s.done) + " of " + s.unit.text(s.total)
}

// whole says how much of all stages is done, and how long the rest takes.
func (p *progress) whole(known bool) string {
	share, left := "?", "?"
	if known {
		share = fmt.Sprint(int(p.share * 100))
		if p.left >= 0 {
			left = leftText(p.left)
		}
	}
	return "whole " + share + " %, " + left + " left"
}

// leftText writes how long the rest takes, in whole seconds: 5 s, 3m07s, 2h05m.
func leftText(d time.Duration) string {
	seconds := (d + time.Second - 1) / time.Second
	switch {
	case seconds < 60:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%dm%02ds", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%dh%02dm", seconds/3600, seconds%3600/60)
}
