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
	mostBar  = 30 // characters of a bar
	leastBar = 8
	besides  = 56 // characters that there are at most beside the stage's name and the bar
)

// draw returns the state of a stage and of the whole as a line that fits the terminal: with a bar if there is room for one.
func (p *progress) draw(s *stage, known bool) string {
	width := max(p.width()-1, 0) // terminals may begin a new line after the last character
	if n := min(width-utf8.RuneCountInString(s.name)-besides, mostBar); n >= leastBar && s.total > 0 {
		full := n * s.share() / 100
		done, rest := strings.Repeat("#", full), strings.Repeat("-", n-full)
		if p.colour {
			done = "\x1b[32m" + done + "\x1b[0m"
		}
		return p.text(s, known, " |"+done+rest+"|")
	}
	line := []rune(p.text(s, known, ""))
	return string(line[:min(width, len(line))])
}

// text says how far a stage, after whose name there is a bar or nothing, and the whole are.
func (p *progress) text(s *stage, known bool, bar string) string {
	share, speed := "", ""
	switch {
	case s.total > 0:
		share = fmt.Sprintf(" %d %%", s.share())
	case s.started:
		share = " " + s.unit.text(s.done)
	}
	if s.started {
		speed = fmt.Sprintf(", %s/s", s.unit.text(rate(s.done, p.now().Sub(s.began))))
	}
	return s.name + bar + share + ", " + p.whole(known) + speed // the last is cut off first
}

// share returns how much of a stage is done, in percent. It never falls.
func (s *stage) share() int {
	s.percent = max(s.percent, int(float64(s.done)/float64(s.total)*100))
	return s.percent
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
