package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"orcomgo/compress"
)

// benchJSON is what bench found out; with --json it is printed.
type benchJSON struct {
	runJSON
	File      string     `json:"file"`
	Stored    uint64     `json:"file_bytes"`
	Text      uint64     `json:"text_bytes"` // of the whole file; an estimate unless Whole
	Whole     bool       `json:"sample_is_whole_file"`
	Sample    uint64     `json:"sample_bytes"`
	Read      float64    `json:"read_bytes_per_second"` // of text
	Settings  []measured `json:"settings"`
	Memory    uint64     `json:"memory_to_lay_out_at_once"`
	Jobs      int        `json:"jobs"` // for many such files
	Suggested string     `json:"suggested"`
	Why       string     `json:"why"`
}

// sliceText is about how many bytes of text are coded by one thread.
const sliceText = 64 << 20

// Another level is suggested if it saves so much for so much time.
const (
	maxSaves, maxCosts = 0.02, 2.0
	fastLoses, fastIs  = 0.005, 0.8
)

// suggest chooses flags for the file.
func (o *benchFlags) suggest(b *benchJSON) {
	base := &b.Settings[0]
	factor := float64(b.Text) / float64(max(b.Sample, 1))
	b.Memory = compress.MemoryFor(uint64(float64(base.records)*factor), uint64(float64(base.bases)*factor))
	flags, why := "", "the defaults"
	for i := range b.Settings[1:] {
		s := &b.Settings[i+1]
		size, took := float64(s.Archive)/float64(base.Archive), (s.Bin+s.Pack)/(base.Bin+base.Pack)
		switch {
		case s.level == compress.LevelMax && size <= 1-maxSaves && took <= maxCosts:
			flags, why = " --level max", fmt.Sprintf("it saves %.1f %% for %.1f times the time", 100*(1-size), took)
		case s.level == compress.LevelFast && size <= 1+fastLoses && took <= fastIs && flags == "":
			flags, why = " --level fast", fmt.Sprintf("it takes %.1f times the time for %.1f %% more bytes", took, 100*(size-1))
		}
	}
	b.Suggested, b.Why = "orcomgo archive"+flags+" "+b.File+" OUT/", why
	slices := int(math.Ceil(float64(b.Text) / sliceText))
	b.Jobs = max(min(o.threads/max(slices, 1), int(uint64(o.memory)/max(b.Memory, minMemory))), 1)
}

// print prints the table and the suggestion. The table is Markdown.
func (b *benchJSON) print(w io.Writer) error {
	of := "all of it"
	if !b.Whole {
		of = "measured on the first " + bytesText(b.Sample)
	}
	about := ""
	if !b.Whole {
		about = "about "
	}
	rows := [][]string{{"flags", "archive", "ratio", "archive takes", "CPU", "unpack takes", "CPU"}}
	factor := float64(b.Text) / float64(max(b.Sample, 1))
	took, ran := 0.0, 0.0
	for i := range b.Settings {
		s := &b.Settings[i]
		flags := s.Flags
		if flags == "" {
			flags = "(none)"
		}
		ratio := float64(b.Sample) / float64(max(s.Archive, 1))
		rows = append(rows, []string{flags, bytesText(s.WholeArchive), fmt.Sprintf("%.2f", ratio),
			timeAndRate(s.WholeTime, b.Text), secondsText(s.ArchiveCPU * factor),
			timeAndRate(s.WholeUnpack, b.Text), secondsText(s.UnpackCPU * factor)})
		took, ran = took+s.Bin+s.Pack+s.Unpack, ran+s.ArchiveCPU+s.UnpackCPU
	}
	base := &b.Settings[0]
	_, err := fmt.Fprintf(w, "%s: %s, %s%s of text, %s; %s\n\n%s\n", oneLine(b.File), bytesText(b.Stored), about, bytesText(b.Text), of,
		plural(uint64(b.Threads), "thread"), markdown(rows))
	if err != nil {
		return err
	}
	if !b.Whole {
		fmt.Fprintf(w, "Archives are at most so large: more reads overlap more. Times are of as much text at the same rates.\n")
	}
	if ran > 0 && ran < took*busy {
		fmt.Fprintf(w, "The machine was busy with other work: threads ran for %.0f %% of one core's time. On an idle one all is faster.\n",
			100*ran/took)
	}
	fmt.Fprintf(w, "rates: reading %s/s, bin %s/s, pack %s/s, unpack %s/s\n", bytesText(uint64(b.Read)),
		bytesText(perSecond(b.Sample, base.Bin)), bytesText(perSecond(b.Sample, base.Pack)), bytesText(perSecond(b.Sample, base.Unpack)))
	fmt.Fprintf(w, "memory: %s lays out all reads at once\n", bytesText(max(b.Memory, minMemory)))
	if b.Jobs > 1 {
		fmt.Fprintf(w, "many such files: orcomgo archive --jobs %d DIR/ OUT/\n", b.Jobs)
	}
	_, err = fmt.Fprintf(w, "suggested: %s (%s)\n", oneLine(b.Suggested), b.Why)
	return err
}

// busy is the share of a core's time that threads must get for the times to count as those of an idle machine. Even with one thread
// they run nearly all the time.
const busy = 0.8

// secondsText writes a number of seconds.
func secondsText(s float64) string { return durationText(time.Duration(s * float64(time.Second))) }

// timeAndRate writes a time and how many bytes a second that is.
func timeAndRate(seconds float64, n uint64) string {
	return secondsText(seconds) + ", " + bytesText(perSecond(n, seconds)) + "/s"
}

func perSecond(n uint64, seconds float64) uint64 { return uint64(float64(n) / max(seconds, 1e-9)) }

// markdown returns a table whose columns are aligned, the first one to the left.
func markdown(rows [][]string) string {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	line := func(row []string) {
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if i == 0 {
				c, pad = c+pad, ""
			}
			fmt.Fprintf(&b, "| %s%s ", pad, c)
		}
		b.WriteString("|\n")
	}
	rule := slices.Clone(rows[0])
	for i := range rule {
		rule[i] = strings.Repeat("-", width[i])
		if i > 0 {
			rule[i] = strings.Repeat("-", width[i]-1) + ":"
		}
	}
	line(rows[0])
	line(rule)
	for _, row := range rows[1:] {
		line(row)
	}
	return b.String()
}
