package binning

import (
	"math"

	"orcomgo/bins/record"
)

// formCodes is how many form codes there are. The code of a record of four lines is
// Plus << 4 | CR.
const formCodes = 3 << 4

// formOfCode returns the form of a record. The text of PlusText is missing.
func formOfCode(code uint8) record.Form {
	return record.Form{CR: code & 15, Plus: record.Plus(code >> 4)}
}

// formsOfCodes returns the forms of a block of records of four lines. codes has the code of each
// record, or a single one that all have; counts is how many records have each code. The last
// record is followed by tail, and has no line end if noNewline is set. plusText returns what
// follows the '+' of a read whose code says PlusText. The exceptions may be in the memory of old.
func formsOfCodes(
	old []record.FormException, codes []uint8, counts *[formCodes]int, tail string, noNewline bool, plusText func(read int) string,
) record.Forms {
	best, records := 0, 0
	for c, n := range counts {
		records += n
		if n > counts[best] && record.Plus(c>>4) != record.PlusText {
			best = c
		}
	}
	out := record.Forms{Default: formOfCode(uint8(best))}
	atEnd := tail != "" || noNewline
	if records == 0 || counts[best] == records && !atEnd {
		return out
	}
	out.Exceptions = resize(old, records-counts[best]+1)[:0]
	var plain [formCodes]*record.Form
	type withText struct {
		code uint8
		text string
	}
	texts := make(map[withText]*record.Form)
	for k := range records {
		c := codes[min(k, len(codes)-1)]
		last := k == records-1 && atEnd
		if int(c) == best && !last {
			continue
		}
		form := plain[c]
		if record.Plus(c>>4) == record.PlusText {
			key := withText{c, plusText(k)}
			if form = texts[key]; form == nil {
				own := formOfCode(c)
				own.PlusText = key.text
				form = &own
				keepForm(texts, key, form)
			}
		} else if form == nil {
			own := formOfCode(c)
			form, plain[c] = &own, &own
		}
		if last {
			own := *form
			own.Tail, own.NoNewline = tail, noNewline
			form = &own
		}
		out.Exceptions = append(out.Exceptions, record.FormException{Read: uint32(k), Form: form})
	}
	return out
}

// mostShared is how many forms are kept to be shared by later records of a block.
const mostShared = 1 << 10

// keepForm adds a form to those that records share, unless there are many.
func keepForm[K comparable](shared map[K]*record.Form, key K, form *record.Form) {
	if len(shared) < mostShared {
		shared[key] = form
	}
}

// foldLines describes lines (length << 1 | CR) in the shortest way that Form has: one line needs
// no description, no lines or lines of equal length have a width, others are listed. Unless they
// are listed, bit of cr is set if the lines end in CR LF. The list that it returns may be lines.
func foldLines(lines []uint32, cr *uint8, bit uint8) (width uint32, _ []uint32) {
	if len(lines) == 0 {
		// With a width, an empty sequence has no lines. The bit is not used then; with the value
		// of the name's bit, the form is equal to that of more records.
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
		return 0, lines
	}
	if first&1 != 0 {
		*cr |= bit
	}
	if len(lines) == 1 {
		return 0, nil
	}
	return first >> 1, nil
}

// formList collects the forms of a block's records in little memory.
type formList struct {
	size  int // of extra in bytes, about, here and in record.Forms
	runs  chunkedList[formRun]
	extra chunkedList[formExtra]
	tails []string // the distinct tails; the first is empty
	index map[string]uint32
	// fields are those of each record, if they are BAM.
	fields []string

	wrapped bool // some record has a width
}

// shortForm is a form without texts and lists of lines.
type shortForm struct {
	cr, plus            uint8
	noNewline           bool
	tail                uint32 // index of tails
	extra               uint32 // index of extra + 1; 0 for none
	seqWidth, qualWidth uint32
	letters             uint32
}

// formRun is a run of records of one form.
type formRun struct {
	shortForm
	records uint32
}

// formExtra has the texts and lists of a form.
type formExtra struct {
	plusText            string
	seqLines, qualLines []uint32
}

// add adds the form of a record. fields are those of BAM.
func (l *formList) add(r *record.Form, letters int, fields string) {
	if r.Plus == record.BAMFields {
		l.fields = append(l.fields, fields)
		l.size += fieldsSize + len(fields)
		return
	}
	s := shortForm{cr: r.CR, plus: uint8(r.Plus), noNewline: r.NoNewline,
		seqWidth: r.SeqWidth, qualWidth: r.QualWidth, letters: uint32(letters)}
	if r.Tail != "" {
		s.tail = l.tailIndex(r.Tail)
	}
	if r.PlusText != "" || r.SeqLines != nil || r.QualLines != nil {
		l.extra.add(formExtra{r.PlusText, r.SeqLines, r.QualLines})
		s.extra = uint32(l.extra.n)
		l.size += 256 + len(r.PlusText) + 4*len(r.SeqLines) + 4*len(r.QualLines)
	}
	l.wrapped = l.wrapped || s.seqWidth|s.qualWidth != 0
	if n := l.runs.n; n > 0 {
		if last := l.runs.at(n - 1); last.shortForm == s && last.records < math.MaxUint32 {
			last.records++
			return
		}
	}
	l.runs.add(formRun{s, 1})
}

// fieldsSize is how many bytes fields of BAM take besides their own, about.
const fieldsSize = 64

func (l *formList) tailIndex(tail string) uint32 {
	if n := l.runs.n; n > 0 {
		if i := l.runs.at(n - 1).tail; i > 0 && l.tails[i] == tail {
			return i
		}
	}
	if l.index == nil {
		l.tails, l.index = []string{""}, make(map[string]uint32)
	}
	i, ok := l.index[tail]
	if !ok {
		i = uint32(len(l.tails))
		l.tails = append(l.tails, tail)
		l.index[tail] = i
	}
	return i
}

// record returns the form of a record.
func (l *formList) record(s *shortForm) record.Form {
	r := record.Form{CR: s.cr, Plus: record.Plus(s.plus), SeqWidth: s.seqWidth, QualWidth: s.qualWidth, NoNewline: s.noNewline}
	if s.tail > 0 {
		r.Tail = l.tails[s.tail]
	}
	if s.extra > 0 {
		o := l.extra.at(int(s.extra) - 1)
		r.PlusText, r.SeqLines, r.QualLines = o.plusText, o.seqLines, o.qualLines
	}
	return r
}

// forms returns the forms of the block, with the commonest as default. A record of one line that
// is not longer than the commonest width, or of no lines, gets that width: the text is the same.
func (l *formList) forms() record.Forms {
	if l.fields != nil {
		return record.Forms{Default: record.BAMForm, Fields: l.fields}
	}
	if l.wrapped {
		l.commonWidth(func(s *shortForm) *uint32 { return &s.seqWidth }, func(o *formExtra) bool { return o.seqLines != nil })
		l.commonWidth(func(s *shortForm) *uint32 { return &s.qualWidth }, func(o *formExtra) bool { return o.qualLines != nil })
	}
	withoutLetters := func(r *formRun) shortForm {
		k := r.shortForm
		k.letters = 0
		return k
	}
	var common commonest[shortForm]
	records := 0
	for i := range l.runs.n {
		r := l.runs.at(i)
		records += int(r.records)
		if r.extra == 0 && !r.noNewline {
			common.add(withoutLetters(r), int(r.records))
		}
	}
	best, n := common.best()
	out := record.Forms{Default: l.record(&best)}
	if n == records {
		return out
	}
	out.Exceptions = make([]record.FormException, 0, records-n)
	read := uint32(0)
	shared := make(map[shortForm]*record.Form)
	for i := range l.runs.n {
		r := l.runs.at(i)
		if short := withoutLetters(r); short != best {
			form := shared[short]
			if form == nil {
				own := l.record(&short)
				form = &own
				if short.extra == 0 { // else it has texts or lists of its own
					keepForm(shared, short, form)
				}
			}
			for k := range r.records {
				out.Exceptions = append(out.Exceptions, record.FormException{Read: read + k, Form: form})
			}
		}
		read += r.records
	}
	return out
}

// commonWidth sets the width of all records whose lines the commonest width describes to that.
func (l *formList) commonWidth(width func(*shortForm) *uint32, listed func(*formExtra) bool) {
	var common commonest[uint32]
	for i := range l.runs.n {
		r := l.runs.at(i)
		if w := *width(&r.shortForm); w != 0 && w != math.MaxUint32 {
			common.add(w, int(r.records))
		}
	}
	best, _ := common.best()
	for i := range l.runs.n {
		s := &l.runs.at(i).shortForm
		w := width(s)
		switch {
		case s.extra > 0 && listed(l.extra.at(int(s.extra)-1)):
		case *w == math.MaxUint32:
			*w = max(best, 1)
		case *w == 0 && best > 0 && s.letters > 0 && s.letters <= best:
			*w = best
		}
	}
}

// commonest finds the value that is added most often; of equally common ones, the one that
// reached that number first. Equal values one after another are counted together.
type commonest[T comparable] struct {
	counts map[T]int
	value  T // that was added last
	run    int
	top    T
	most   int
}

// add adds v n times.
func (c *commonest[T]) add(v T, n int) {
	if c.run > 0 && v != c.value {
		c.count()
	}
	c.value = v
	c.run += n
}

func (c *commonest[T]) count() {
	if c.counts == nil {
		c.counts = make(map[T]int)
	}
	n := c.counts[c.value] + c.run
	c.counts[c.value], c.run = n, 0
	if n > c.most {
		c.top, c.most = c.value, n
	}
}

// best returns the commonest value and how often it was added; zeros if none was added.
func (c *commonest[T]) best() (T, int) {
	if c.run > 0 {
		c.count()
	}
	return c.top, c.most
}

// chunkedList is a list that grows without moving its elements.
type chunkedList[T any] struct {
	parts [][]T
	n     int
}

const listPart = 1 << 13

func (l *chunkedList[T]) add(v T) {
	if l.n == 0 {
		l.parts = append(l.parts, nil) // the first part grows: most lists are short
	} else if l.n%listPart == 0 {
		l.parts = append(l.parts, make([]T, 0, listPart))
	}
	last := &l.parts[len(l.parts)-1]
	*last = append(*last, v)
	l.n++
}

func (l *chunkedList[T]) at(i int) *T { return &l.parts[i/listPart][i%listPart] }
