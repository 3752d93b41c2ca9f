package binning

import (
	"math"

	"orcomgo/bins"
)

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
