package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/dustin/go-humanize"

	"orcomgo/compress"
)

//go:embed page.html
var pageText string

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"count":    func(n uint64) string { return humanize.Comma(int64(n)) },
		"decimals": decimals,
		"field":    fieldText,
		"join":     func(list []string) string { return strings.Join(list, ", ") },
		"damage":   func(f compress.FileStatus) string { return f.DamagedText() },
	}).Parse(pageText))
})

// decimals writes a number with so many decimals.
func decimals(v float64, n int) string { return strconv.FormatFloat(v, 'f', n, 64) }

// page is what the template takes.
type page struct {
	*Figures
	Program string
	Tiles   []tile
	Bars    []bar
	Layout  []figure // coverage and duplicates of pairs
	Parts   []part
}

// tile is a figure that is shown large.
type tile struct{ Name, Value, Note string }

// bar is a size that is compared with others.
type bar struct {
	Name, Note string
	Bytes      uint64
	Percent    float64 // of the largest
	Ours       bool
}

// part is about the reads of one number.
type part struct {
	*ReadFigures
	Title string
	Plots []figure
}

// Page writes the figures as a page of HTML that needs no other file. program is what made it, for its last line. An error is that of
// w, or of a plot.
func (f *Figures) Page(w io.Writer, program string) error {
	layout, err := drawAll(f.Pseudogenome.plot(), f.Pairs.plot("pairs"))
	if err != nil {
		return err
	}
	p := page{Figures: f, Program: program, Tiles: f.tiles(), Bars: f.sizes(), Layout: layout}
	for i := range f.Reads {
		r := &f.Reads[i]
		plots, err := r.plots()
		if err != nil {
			return err
		}
		p.Parts = append(p.Parts, part{r, f.readTitle(r.Number), plots})
	}
	var text bytes.Buffer
	if err := pageTemplate().Execute(&text, p); err != nil {
		return err
	}
	_, err = w.Write(bytes.Map(printable, text.Bytes()))
	return err
}

// printable replaces a control character, as names may have them.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return unicode.ReplacementChar
	}
	return r
}

// readTitle says which reads have a number.
func (f *Figures) readTitle(number int) string {
	switch {
	case len(f.Reads) == 1:
		return "Reads"
	case number == 1:
		return "Read 1: first mates"
	case number == 2:
		return "Read 2: second mates"
	}
	return fmt.Sprintf("Read %d: further reads of the fragments", number)
}

// tiles are the figures at the head of the page.
func (f *Figures) tiles() []tile {
	a := f.Archive
	list := []tile{f.saved(), {"reads", humanize.Comma(int64(a.Records)), ""}, {"bases", humanize.Comma(int64(a.Bases)), ""}}
	for i := range f.Reads {
		r, of := &f.Reads[i], ""
		if len(f.Reads) > 1 {
			of = fmt.Sprintf(" of read %d", r.Number)
		}
		if r.Bases > 0 {
			list = append(list, tile{"% GC" + of, decimals(r.GC, 1), ""})
		}
		if r.Qualities != nil {
			list = append(list, tile{"% with quality 30 or more" + of, decimals(r.Qualities.Q30, 1), ""})
		}
		if r.Duplication != nil {
			list = append(list, tile{"% duplicates" + of, decimals(r.Duplication.Duplicates, 1), ""})
		}
	}
	if p := f.Pseudogenome; p != nil && p.Bases > 0 {
		list = append(list, tile{"mean coverage", decimals(p.MeanDepth, 1), "of " + humanize.Comma(int64(p.Bases)) + " joined bases"})
	}
	return list
}

// saved compares the archive with what was stored before, or with the text where that is not known.
func (f *Figures) saved() tile {
	before, what, a := f.Gzip.StoredBytes, "% of the files that were archived", f.Archive.ArchiveBytes
	if before == 0 {
		before, what = f.Archive.TextBytes, "% of the text"
	} else if f.Gzip.StoredCompressed > 0 {
		what = "% of the compressed files"
	}
	if a > before {
		return tile{what, decimals(percent(a, before), 0), humanize.Bytes(a-before) + " more"}
	}
	return tile{what, decimals(percent(a, before), 0), humanize.Bytes(before-a) + " saved"}
}

// sizes compare the archive with the text and with gzip.
func (f *Figures) sizes() []bar {
	g, a := &f.Gzip, f.Archive
	list := []bar{{Name: "text", Bytes: a.TextBytes}}
	if g.StoredBytes > 0 && g.StoredCompressed > 0 {
		list = append(list, bar{Name: "the files that were archived", Bytes: g.StoredBytes,
			Note: fmt.Sprintf("as they were stored, %d of them compressed", g.StoredCompressed)})
	}
	if g.Ratio6 > 0 {
		list = append(list, bar{Name: "gzip, estimated", Bytes: uint64(float64(a.TextBytes) / g.Ratio6),
			Note: "level 6, by " + humanize.Bytes(g.SampleBytes) + " of the text"})
	}
	list = append(list, bar{Name: "this archive", Bytes: a.ArchiveBytes, Ours: true})
	most := slices.MaxFunc(list, func(a, b bar) int { return cmp.Compare(a.Bytes, b.Bytes) }).Bytes
	for i := range list {
		list[i].Percent = percent(list[i].Bytes, most)
	}
	return list
}

// fieldText says which values a field of names has.
func fieldText(f NameField) string {
	if f.Kind == "constant" && len(f.Common) > 0 {
		return fmt.Sprintf("always %q", f.Common[0].Value)
	}
	text := fmt.Sprintf("%s values", humanize.Comma(int64(f.Values)))
	if f.More > 0 {
		text = fmt.Sprintf("more than %s values", humanize.Comma(int64(f.More)))
	}
	if f.Kind == "number" {
		text += fmt.Sprintf(", from %d to %d", f.Min, f.Max)
	}
	if f.More == 0 && f.Kind == "text" {
		var common []string
		for _, v := range f.Common {
			common = append(common, fmt.Sprintf("%q (%s)", v.Value, humanize.Comma(int64(v.Records))))
		}
		text += ": " + strings.Join(common, ", ")
		if f.Values > len(common) {
			text += " and others"
		}
	}
	return text
}
