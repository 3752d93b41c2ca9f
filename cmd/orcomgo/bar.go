package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
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
	// Beside the bar there are about so many characters at most: of the whole and its time left, of the percentage, of counts and rate.
	wholeRoom, percentRoom, countRoom = 26, 8, 28
)

// escapes are those of colours, which take no room.
var escapes = regexp.MustCompile(`\x1b\[[0-9;]*[mK]|\r`)

// newBar returns a bar for a stage on a terminal of so many characters, or nil if there is no room for one.
func (p *progress) newBar(s *stage, width int) *progressbar.ProgressBar {
	room := width - utf8.RuneCountInString(s.name) - wholeRoom - percentRoom
	counts := room >= leastBar+countRoom
	if counts {
		room -= countRoom
	}
	if room < leastBar {
		return nil
	}
	theme := progressbar.Theme{Saucer: "#", SaucerPadding: "-", BarStart: "|", BarEnd: "|"}
	options := []progressbar.Option{progressbar.OptionSetWriter(io.Discard), progressbar.OptionSetWidth(min(room, mostBar)),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionUseANSICodes(true)}
	if counts {
		options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowBytes(s.unit == bytesUnit))
	}
	if p.colour {
		theme.Saucer = "[green]#[reset]"
		options = append(options, progressbar.OptionEnableColorCodes(true))
	}
	return progressbar.NewOptions64(int64(s.total), append(options, progressbar.OptionSetTheme(theme))...)
}

// draw returns the state of a stage and of the whole as a line that fits the terminal: with a bar if it is known how much there is to do.
func (p *progress) draw(s *stage, known bool) string {
	width := p.width() - 1 // terminals may begin a new line after the last character
	if s.total > 0 && s.bar != nil {
		s.bar.ChangeMax64(int64(s.total))
		s.bar.Set64(int64(s.done))
		s.bar.Describe(s.name + ", " + p.whole(known))
		if line := s.bar.String(); utf8.RuneCountInString(escapes.ReplaceAllString(line, "")) <= width {
			return strings.TrimSuffix(strings.TrimPrefix(line, "\r"), "\x1b[0K")
		}
	}
	line := []rune(p.text(s, known))
	return string(line[:min(max(width, 0), len(line))])
}

// text says how far a stage and the whole are.
func (p *progress) text(s *stage, known bool) string {
	share := ""
	switch {
	case s.total > 0 && s.started && !p.terminal:
		share = fmt.Sprintf(" %d %%, %s/s", s.share(), s.unit.text(rate(s.done, p.now().Sub(s.began))))
	case s.total > 0:
		share = fmt.Sprintf(" %d %%", s.share())
	case s.started:
		share = " " + s.unit.text(s.done)
	}
	return s.name + share + ", " + p.whole(known)
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
	if d = (d + time.Second - 1).Truncate(time.Second); d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return durationText(d)
}
