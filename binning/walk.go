package binning

import (
	"bytes"
	"fmt"
	"math"

	"orcomgo/bins"
)

// wrapped is a record taken off a text whose sequences or qualities may take any number of
// lines.
type wrapped struct {
	name, seq, qual []byte
	textLen         int
	layout          bins.RecordLayout

	seqLines, qualLines []uint32 // memory
}

// walk takes the first record off text, which is the rest of the input or at least reaches
// into the next record. The sequence has so many letters, or if that is -1 as many as
// there are before the '+' line.
func walk(w *wrapped, text []byte, kind bins.Kind, letters int) *shape {
	w.layout, w.seq, w.qual = bins.RecordLayout{}, w.seq[:0], w.qual[:0]
	l := &w.layout
	mark := byte('@')
	if kind == bins.FASTA {
		mark = '>'
	}
	if len(text) == 0 || text[0] != mark {
		return &shape{fmt.Sprintf("'%c'", mark), (&parser{text: text}).show(0), false}
	}
	p := parser{text: text, last: true}
	end, at, cr, lf := p.line(0)
	w.name = text[1:end]
	if cr {
		l.CR |= 1
	}
	lines := w.seqLines[:0]
	line := func(dst *[]byte, lines []uint32) []uint32 {
		from := at
		end, at, cr, lf = p.line(from)
		*dst = append(*dst, text[from:end]...)
		n := uint32(end-from) << 1
		if cr {
			n |= 1
		}
		return append(lines, n)
	}
	if kind == bins.FASTA {
		for at < len(text) && text[at] != '>' {
			if len(w.seq) > 0 || len(lines) > 0 {
				// Blank lines from here to the next record are its tail.
				if t := blankLines(text[at:]); t > 0 && (at+t == len(text) || text[at+t] == '>') {
					break
				}
			}
			lines = line(&w.seq, lines)
		}
	} else {
		for at < len(text) && text[at] != '+' {
			lines = line(&w.seq, lines)
		}
		if at >= len(text) {
			return &shape{"a line with '+'", "the end of the file", false}
		}
	}
	w.seqLines = lines
	if letters >= 0 && len(w.seq) != letters {
		return &shape{fmt.Sprintf("%d bases", letters), fmt.Sprint(len(w.seq)), false}
	}
	l.SeqWidth, l.SeqLines = foldLines(lines, &l.CR, 2)
	if kind == bins.FASTQ {
		from := at
		end, at, cr, lf = p.line(from)
		if cr {
			l.CR |= 4
		}
		if plus := text[from+1 : end]; len(plus) > 0 {
			l.Plus = bins.PlusName
			if !bytes.Equal(plus, w.name) {
				l.Plus, l.PlusText = bins.PlusText, string(plus)
			}
		}
		lines = w.qualLines[:0]
		for at < len(text) && (len(w.qual) < len(w.seq) || len(lines) == 0) {
			lines = line(&w.qual, lines)
		}
		w.qualLines = lines
		if len(w.qual) != len(w.seq) {
			return &shape{fmt.Sprintf("%d qualities, as many as bases", len(w.seq)), fmt.Sprint(len(w.qual)), false}
		}
		l.QualWidth, l.QualLines = foldLines(lines, &l.CR, 8)
	}
	l.NoNewline = !lf
	tail := blankLines(text[at:])
	l.Tail = string(text[at : at+tail])
	w.textLen = at + tail
	return nil
}

// blankLines returns how many bytes of blank lines a text begins with.
func blankLines(text []byte) int {
	at := 0
	for at < len(text) {
		switch {
		case text[at] == '\n':
			at++
		case text[at] == '\r' && at+1 < len(text) && text[at+1] == '\n':
			at += 2
		default:
			return at
		}
	}
	return at
}

// foldLines describes lines (length << 1 | CR) in the shortest way that RecordLayout has:
// one line by nothing, no lines or even ones by a width, others by themselves. For all but
// the last it sets a bit of cr as the lines end.
func foldLines(lines []uint32, cr *uint8, bit uint8) (width uint32, _ []uint32) {
	if len(lines) == 0 {
		// A width gives no lines for no letters. The bit means nothing; as the name's it
		// makes the record like others.
		if *cr&1 != 0 {
			*cr |= bit
		}
		return math.MaxUint32, nil
	}
	first, last := lines[0], lines[len(lines)-1]
	even := first>>1 > 0 || len(lines) == 1
	for _, n := range lines[:len(lines)-1] {
		even = even && n == first
	}
	if len(lines) > 1 {
		even = even && last>>1 > 0 && last>>1 <= first>>1 && last&1 == first&1
	}
	if !even {
		return 0, append([]uint32{}, lines...)
	}
	if first&1 != 0 {
		*cr |= bit
	}
	if len(lines) == 1 {
		return 0, nil
	}
	return first >> 1, nil
}

// layoutList collects the layouts of a block's records in little memory.
type layoutList struct {
	all []shortLayout
	odd []bins.RecordLayout // those that a shortLayout can't hold
}

// shortLayout is a layout without texts and lists of lines, unless odd is set.
type shortLayout struct {
	cr, plus            uint8
	noNewline           bool
	odd                 int32 // index + 1
	seqWidth, qualWidth uint32
	letters             uint32
}

func (l *layoutList) add(r *bins.RecordLayout, letters int) {
	s := shortLayout{cr: r.CR, plus: uint8(r.Plus), noNewline: r.NoNewline, seqWidth: r.SeqWidth, qualWidth: r.QualWidth, letters: uint32(letters)}
	if r.PlusText != "" || r.SeqLines != nil || r.QualLines != nil || r.Tail != "" {
		l.odd = append(l.odd, *r)
		s.odd = int32(len(l.odd))
	}
	l.all = append(l.all, s)
}

// layout returns the layout of the block: the commonest one as default. A record of one
// line no longer than the commonest width, or of no line, is given that width.
func (l *layoutList) layout() bins.Layout {
	l.commonWidth(func(s *shortLayout) *uint32 { return &s.seqWidth }, func(r *bins.RecordLayout) bool { return r.SeqLines != nil })
	l.commonWidth(func(s *shortLayout) *uint32 { return &s.qualWidth }, func(r *bins.RecordLayout) bool { return r.QualLines != nil })
	type key struct {
		cr, plus            uint8
		seqWidth, qualWidth uint32
		tail                string
	}
	full := func(s *shortLayout) bins.RecordLayout {
		r := bins.RecordLayout{CR: s.cr, Plus: bins.Plus(s.plus), SeqWidth: s.seqWidth, QualWidth: s.qualWidth, NoNewline: s.noNewline}
		if s.odd > 0 {
			o := &l.odd[s.odd-1]
			r.PlusText, r.SeqLines, r.QualLines, r.Tail = o.PlusText, o.SeqLines, o.QualLines, o.Tail
		}
		return r
	}
	counts := make(map[key]int)
	var best key
	most := 0
	for i := range l.all {
		r := full(&l.all[i])
		if r.PlusText != "" || r.SeqLines != nil || r.QualLines != nil || r.NoNewline {
			continue
		}
		k := key{r.CR, uint8(r.Plus), r.SeqWidth, r.QualWidth, r.Tail}
		counts[k]++
		if counts[k] > most {
			best, most = k, counts[k]
		}
	}
	out := bins.Layout{Default: bins.RecordLayout{CR: best.cr, Plus: bins.Plus(best.plus), SeqWidth: best.seqWidth, QualWidth: best.qualWidth, Tail: best.tail}}
	for i := range l.all {
		if r := full(&l.all[i]); !r.Equal(&out.Default) {
			out.Exceptions = append(out.Exceptions, bins.LayoutException{Read: uint32(i), RecordLayout: r})
		}
	}
	return out
}

// commonWidth finds the commonest width and gives it to all records that it describes as well.
func (l *layoutList) commonWidth(width func(*shortLayout) *uint32, listed func(*bins.RecordLayout) bool) {
	counts := make(map[uint32]int)
	best, most := uint32(0), 0
	for i := range l.all {
		w := *width(&l.all[i])
		if w == 0 || w == math.MaxUint32 {
			continue
		}
		counts[w]++
		if counts[w] > most {
			best, most = w, counts[w]
		}
	}
	for i := range l.all {
		s := &l.all[i]
		w := width(s)
		switch {
		case s.odd > 0 && listed(&l.odd[s.odd-1]):
		case *w == math.MaxUint32:
			*w = max(best, 1)
		case *w == 0 && best > 0 && s.letters > 0 && s.letters <= best:
			*w = best
		}
	}
}
