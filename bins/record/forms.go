package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"

	"orcomgo/bins/parse"
)

// Plus is the kind of text that follows the '+' of a FASTQ record.
type Plus uint8

// The kinds of text after '+'.
const (
	PlusEmpty Plus = iota
	PlusName       // the name again
	PlusText       // Form.PlusText
	// BAMFields: there is no '+', and Form.PlusText or Forms.Fields has the fields of a record of BAM, as package bam writes them.
	BAMFields
)

// Form is everything about a record's text but its name, sequence and qualities. The zero value
// is a four-line FASTQ record, LF line ends, nothing after '+'; for FASTA, the sequence on one
// line.
type Form struct {
	// CR has a bit for each of the four lines (name 1, sequence 2, plus 4, quality 8) that
	// ended in CR LF. With SeqLines or QualLines set, bits 2 and 8 are not used: each line has its own.
	CR       uint8
	Plus     Plus
	PlusText string
	// SeqWidth and QualWidth, when not 0, wrap the sequence or the qualities over lines of
	// so many bytes, the last line holding the rest (1..width). All their lines end alike (CR).
	SeqWidth, QualWidth uint32
	// SeqLines and QualLines, when not nil, give each line's length << 1 | 1 if it ended
	// in CR LF; they are used where no width describes the lines. Blank lines have length 0.
	SeqLines, QualLines []uint32
	// NoNewline: the record's last line was the end of the file and had no LF.
	NoNewline bool
	// Tail is text after the record's last line end: blank lines ("\n" or "\r\n") only.
	Tail string
}

// Forms is the Form of every record of a block: a default, and the records that differ.
type Forms struct {
	Default    Form
	Exceptions []FormException // ascending by Read
	// Fields are those of each record of BAM. They are nil for other formats. With them, Default is BAMForm, and there are no Exceptions.
	Fields []string
}

// BAMForm is the form of records of BAM without their fields.
var BAMForm = Form{Plus: BAMFields}

// FormException is the form of one record. Records may have the same Form, which must not be changed: it takes ten times the memory of a
// short record.
type FormException struct {
	Read uint32 // ordinal in the block
	*Form
}

// Of returns the form of the record with the given ordinal.
func (l *Forms) Of(ordinal uint32) *Form {
	i := sort.Search(len(l.Exceptions), func(i int) bool { return l.Exceptions[i].Read >= ordinal })
	if i < len(l.Exceptions) && l.Exceptions[i].Read == ordinal {
		return l.Exceptions[i].Form
	}
	return &l.Default
}

// IsDefault reports whether l is the zero value: four lines, LF, nothing after '+'.
func (l *Form) IsDefault() bool {
	return l.CR == 0 && l.Plus == PlusEmpty && l.SeqWidth == 0 && l.QualWidth == 0 &&
		l.SeqLines == nil && l.QualLines == nil && !l.NoNewline && l.Tail == ""
}

// Equal reports whether two forms give the same text.
func (l *Form) Equal(o *Form) bool {
	return l.CR == o.CR && l.Plus == o.Plus && l.PlusText == o.PlusText && l.SeqWidth == o.SeqWidth &&
		l.QualWidth == o.QualWidth && sameLines(l.SeqLines, o.SeqLines) && sameLines(l.QualLines, o.QualLines) &&
		l.NoNewline == o.NoNewline && l.Tail == o.Tail
}

// sameLines reports whether lists of lines are equal. Nil (a width describes the lines) and an empty
// list (there are no lines) differ.
func sameLines(a, b []uint32) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }

// IsDefault reports whether every record of the block has the default form.
func (l *Forms) IsDefault() bool { return l.Default.IsDefault() && len(l.Exceptions) == 0 }

// Slice returns the forms of records from..to-1, numbered from 0. It shares memory with l.
func (l *Forms) Slice(from, to uint32) Forms {
	e := l.Exceptions
	lo := sort.Search(len(e), func(i int) bool { return e[i].Read >= from })
	hi := sort.Search(len(e), func(i int) bool { return e[i].Read >= to })
	s := Forms{Default: l.Default}
	if l.Fields != nil {
		s.Fields = l.Fields[from:to]
	}
	if lo < hi {
		s.Exceptions = slices.Clone(e[lo:hi])
		for i := range s.Exceptions {
			s.Exceptions[i].Read -= from
		}
	}
	return s
}

// The first byte of a record's form: CR in bits 0-3, Plus in 4-5, and these.
const (
	formNoNewline = 1 << 6
	formMore      = 1 << 7 // a second byte follows, with these bits
	moreWidth     = 1 << 0 // of the sequence; the next bit for the qualities
	moreLines     = 1 << 2 // likewise
	moreTail      = 1 << 4
)

// MarshalForms appends l, encoded, to dst: nothing at all if it is the default.
func MarshalForms(dst []byte, l *Forms) []byte {
	if l.IsDefault() {
		return dst
	}
	if l.Default.Plus == BAMFields {
		size := 1
		for _, f := range l.Fields {
			size += numberSize(uint32(len(f))) + len(f)
		}
		dst = append(slices.Grow(dst, size), byte(BAMFields)<<4)
		for _, f := range l.Fields {
			dst = parse.AppendBlock(dst, f)
		}
		return dst
	}
	// Room is made once: with many long lists, growing took a third of the time.
	size, next := maxFormSize(&l.Default)+binary.MaxVarintLen32, uint32(0)
	for i := range l.Exceptions {
		e := &l.Exceptions[i]
		size += numberSize(e.Read-next) + maxFormSize(e.Form)
		next = e.Read + 1
	}
	f := &parse.Fields{Out: slices.Grow(dst, size)}
	codeForm(f, &l.Default)
	f.Out = binary.AppendUvarint(f.Out, uint64(len(l.Exceptions)))
	next = 0
	for i := range l.Exceptions {
		e := &l.Exceptions[i]
		f.Out = binary.AppendUvarint(f.Out, uint64(e.Read-next))
		next = e.Read + 1
		codeForm(f, e.Form)
	}
	return f.Out
}

// numberSize returns how many bytes AppendUvarint appends.
func numberSize(n uint32) int { return (bits.Len32(n|1) + 6) / 7 }

// maxFormSize returns how many bytes codeForm appends at most. Millions of records may have the shortest form: one byte.
func maxFormSize(l *Form) int {
	n := 1
	if l.SeqWidth|l.QualWidth != 0 || l.SeqLines != nil || l.QualLines != nil || l.Tail != "" {
		n += 1 + numberSize(l.SeqWidth) + numberSize(l.QualWidth)
	}
	for _, lines := range [2][]uint32{l.SeqLines, l.QualLines} {
		if lines != nil {
			n += numberSize(uint32(len(lines)))
		}
		for _, line := range lines {
			n += numberSize(line)
		}
	}
	if l.Plus == PlusText {
		n += numberSize(uint32(len(l.PlusText))) + len(l.PlusText)
	}
	if l.Tail != "" {
		n += numberSize(uint32(len(l.Tail))) + len(l.Tail)
	}
	return n
}

// codeForm codes a form.
func codeForm(f *parse.Fields, l *Form) {
	first := l.CR&15 | byte(l.Plus)<<4
	if l.NoNewline {
		first |= formNoNewline
	}
	more := parse.Flags(l.SeqWidth != 0, l.QualWidth != 0, l.SeqLines != nil, l.QualLines != nil, l.Tail != "")
	if more != 0 {
		first |= formMore
	}
	if parse.Byte(f, &first, math.MaxUint8); first&formMore != 0 {
		parse.Byte(f, &more, math.MaxUint8)
	}
	if f.In != nil {
		*l = Form{CR: first & 15, Plus: Plus(first >> 4 & 3), NoNewline: first&formNoNewline != 0}
	}
	switch l.Plus {
	case PlusText:
		f.Text(&l.PlusText)
	case BAMFields:
		f.Fail("one record is BAM")
	}
	for i, width := range [2]*uint32{&l.SeqWidth, &l.QualWidth} {
		if more>>i&moreWidth != 0 {
			parse.Number(f, width, math.MaxUint32)
		}
	}
	for i, lines := range [2]*[]uint32{&l.SeqLines, &l.QualLines} {
		if more>>i&moreLines != 0 {
			parse.List(f, lines, 1, "lines", func(n *uint32) { parse.Number(f, n, math.MaxUint32) })
		}
	}
	if more&moreTail != 0 {
		f.Text(&l.Tail)
	}
	for i := 0; i < len(l.Tail); i++ {
		if x := l.Tail[i]; x != '\n' && (x != '\r' || i+1 == len(l.Tail) || l.Tail[i+1] != '\n') {
			f.Fail("there is text after the last line")
		}
	}
}

// Forms of at most longestShared bytes are looked up among the mostShared first ones, so that records share them.
const mostShared, longestShared = 1 << 10, 32

// UnmarshalForms is the inverse of MarshalForms for a block of the given number of
// records. Anything that MarshalForms can't have made is ErrCorrupt.
func UnmarshalForms(data []byte, records int) (Forms, error) {
	var l Forms
	if len(data) == 0 {
		return l, nil
	}
	if data[0] == byte(BAMFields)<<4 {
		return unmarshalFields(data[1:], records)
	}
	c := &parse.Cursor{Rest: data}
	f := &parse.Fields{In: c}
	codeForm(f, &l.Default)
	if n := c.Count(2, "records"); n > 0 {
		l.Exceptions = make([]FormException, 0, min(n, 1<<16))
		next := uint64(0)
		known := make(map[string]*Form) // by their bytes
		for range n {
			read := next + c.AtMost(uint64(records))
			at := c.Rest
			form := new(Form)
			if codeForm(f, form); c.Failed() || read >= uint64(records) {
				return Forms{}, errForm
			}
			coded := at[:len(at)-len(c.Rest)]
			if other := known[string(coded)]; other != nil {
				form = other
			} else if len(known) < mostShared && len(coded) <= longestShared {
				known[string(coded)] = form
			}
			next = read + 1
			l.Exceptions = append(l.Exceptions, FormException{uint32(read), form})
		}
	}
	if !c.Done() {
		return Forms{}, errForm
	}
	return l, nil
}

// unmarshalFields is UnmarshalForms for BAM, after the form.
func unmarshalFields(data []byte, records int) (Forms, error) {
	if records > len(data) {
		return Forms{}, errForm
	}
	l := Forms{Default: BAMForm, Fields: make([]string, records)}
	text, c := string(data), parse.Cursor{Rest: data} // the fields share the memory of the text
	for i := range l.Fields {
		b := c.Block()
		end := len(text) - len(c.Rest)
		l.Fields[i] = text[end-len(b) : end]
	}
	if !c.Done() {
		return Forms{}, errForm
	}
	return l, nil
}

var errForm = fmt.Errorf("%w: its form makes no sense", parse.ErrCorrupt)
