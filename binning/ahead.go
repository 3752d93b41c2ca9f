package binning

import (
	"bytes"
	"io"
	"slices"

	"orcomgo/bins"
	"orcomgo/bins/record"
)

// Text of records of any number of lines is parsed by several threads: it is divided where records seem to begin, and each segment is
// parsed by a walker. A segment whose last record does not end where the next segment begins was divided wrongly. Then, or if anything is
// wrong with the text, all of it is parsed by one walker, record by record.

const (
	// aheadPiece is how many bytes of text a segment has, or a few more.
	aheadPiece = 1 << 20
	// piecesAThread is how many segments for each thread are parsed before their records are used.
	piecesAThread = 4
	mostPieces    = 64
)

// aheadSegment is a segment of text, and its records.
type aheadSegment struct {
	from, to int // in the text
	walker   walker
	text     []byte // memory for the text of a record
	four     []byte // the records, in four lines each
	records  []aheadRecord
	listed   bool // some record has a form with a list or a text
	fields   int  // bytes of memory that fields of BAM take, about
	ok       bool
}

// aheadRecord is a record of a segment.
type aheadRecord struct {
	text, four, letters int          // bytes of text, in four lines, and of the sequence
	form                *record.Form // several records may have the same
	fields              string       // of BAM
}

// ahead holds records that were parsed before they are used.
type ahead struct {
	run      bins.Runner
	pieces   int // that are parsed at a time; 0: nothing is parsed ahead
	piece    int // bytes of one
	segments []*aheadSegment
	count    int // of segments in use
	segment  int // the one with the next record
	record   int // in that
	four     int // where it begins there
	serial   int // bytes of text that have to be parsed by one walker before more is parsed ahead
}

// next returns the next record, and its four lines; nil if there is none.
func (a *ahead) next() (*aheadRecord, []byte) {
	if a.empty() {
		return nil, nil
	}
	s := a.segments[a.segment]
	r := &s.records[a.record]
	four := s.four[a.four:][:r.four]
	a.record, a.four = a.record+1, a.four+r.four
	return r, four
}

// empty reports whether no record is left.
func (a *ahead) empty() bool {
	for a.segment < a.count && a.record == len(a.segments[a.segment].records) {
		a.segment, a.record, a.four = a.segment+1, 0, 0
	}
	return a.segment == a.count
}

// whole returns the next segments of which no record was used, up to the first that fits refuses.
func (a *ahead) whole(fits func(s *aheadSegment) bool) []*aheadSegment {
	if a.empty() || a.record > 0 {
		return nil
	}
	from := a.segment
	for a.segment < a.count && fits(a.segments[a.segment]) {
		a.segment++
	}
	return a.segments[from:a.segment]
}

// fill parses records of the text that follows the walker's record, if that is much, and if it can.
func (a *ahead) fill(w *walker) {
	if a.pieces == 0 || a.serial > 0 || w.header {
		return
	}
	w.fillTo(w.textLen + (a.pieces+1)*a.piece)
	text := w.text()[w.textLen:]
	a.divide(w, text, a.pieces)
	if a.count < 2 {
		a.drop(max(len(text), 1))
		return
	}
	a.segment, a.record, a.four = 0, 0, 0
	longest := make([]*aheadSegment, a.count) // the longest first, so that no thread begins with it when the others end
	copy(longest, a.segments)
	slices.SortFunc(longest, func(x, y *aheadSegment) int { return (y.to - y.from) - (x.to - x.from) })
	a.run(a.count, func(i int) { longest[i].parse(w.kind, text) })
	for _, s := range a.segments[:a.count] {
		if !s.ok {
			a.drop(len(text))
			return
		}
		w.wrapped = w.wrapped || s.walker.wrapped
	}
}

// drop removes all records. The next bytes of text are parsed by one walker.
func (a *ahead) drop(serial int) { a.count, a.segment, a.serial = 0, 0, serial }

// divide divides text where records seem to begin.
func (a *ahead) divide(w *walker, text []byte, pieces int) {
	starts := make([]int, pieces+1) // 0 is none
	if w.kind == record.BAM {
		divideBAM(starts, text, a.piece)
	} else {
		a.run(len(starts), func(i int) {
			if at := (i + 1) * a.piece; at < len(text) {
				starts[i] = recordStart(w.kind, text, at, a.piece)
			}
		})
	}
	if w.err == io.EOF {
		starts = append(starts, len(text))
	}
	from := 0
	a.count = 0
	for _, to := range starts {
		if to <= from {
			continue
		}
		if a.count == len(a.segments) {
			a.segments = append(a.segments, new(aheadSegment))
		}
		s := a.segments[a.count]
		s.from, s.to = from, to
		a.count++
		from = to
	}
}

// recordStart returns where a record seems to begin, at `at` or up to `within` bytes later; 0 if nowhere.
func recordStart(kind record.Kind, text []byte, at, within int) int {
	end := min(at+within, len(text))
	mark := kind.Format().Mark
	for at--; ; at++ {
		n := bytes.IndexByte(text[at:end], '\n')
		if n < 0 || at+n+1 >= end {
			return 0
		}
		if at += n; text[at+1] != mark {
			continue
		}
		if !kind.Format().Quals {
			return at + 1
		}
		// Qualities may begin with the mark, too; but rarely what follows is a record, and then another one.
		w := walker{kind: kind, buf: text, at: at + 1, err: io.EOF}
		if bad, err := w.record(); bad == nil && err == nil && w.has(w.textLen) && w.text()[w.textLen] == mark {
			return at + 1
		}
	}
}

// parse parses the records of a segment of text.
func (s *aheadSegment) parse(kind record.Kind, text []byte) {
	w := &s.walker
	*w = walker{kind: kind, buf: text, at: s.from, err: io.EOF, seq: w.seq[:0], qual: w.qual[:0],
		seqLines: w.seqLines[:0], qualLines: w.qualLines[:0], fields: w.fields, kept: w.kept}
	s.four, s.records, s.listed, s.fields, s.ok = s.four[:0], s.records[:0], false, 0, false
	var form *record.Form
	for w.at+w.textLen < s.to {
		bad, err := w.record()
		if bad != nil || err != nil {
			return
		}
		if !w.givesBack(&s.text) {
			return
		}
		fields := ""
		if kind == record.BAM {
			form, fields = &record.BAMForm, w.form.PlusText
			s.fields += fieldsSize + len(fields)
		} else if form == nil || !form.Equal(&w.form) {
			own := w.form
			form = &own
			s.listed = s.listed || own.SeqLines != nil || own.QualLines != nil || own.PlusText != ""
		}
		before := len(s.four)
		s.four = appendFourLines(s.four, w)
		s.records = append(s.records, aheadRecord{w.textLen, len(s.four) - before, len(w.seq), form, fields})
	}
	s.ok = w.at+w.textLen == s.to
}

// appendFourLines appends the walker's record in four lines.
func appendFourLines(dst []byte, w *walker) []byte {
	dst = append(append(dst, '@'), w.name...)
	dst = append(dst, '\n')
	at := len(dst)
	dst = slices.Grow(dst, len(w.seq))[:at+len(w.seq)]
	w.copy(dst[at:], w.seq)
	dst = append(append(dst, "\n+\n"...), w.qual...)
	return append(dst, '\n')
}
