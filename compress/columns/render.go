package columns

import (
	"bytes"
	"math"
	"strconv"

	"orcomgo/bins/record"
	"orcomgo/compress/twobit"
)

// TextSize returns how many bytes records of these columns take, not counting exceptions of forms.
func TextSize(f record.Rendering, c *Columns) int {
	n := int(c.Bases()) + 2*c.Records
	if c.TwoBit != nil {
		n += twobit.Slack
	}
	if f == record.AsLines {
		return n
	}
	n += len(c.Names) + c.Records
	if c.Names == nil {
		n += c.Records * len(strconv.FormatUint(c.From+uint64(c.Records), 10))
	}
	if f == record.AsRecords && c.Quals != nil {
		n += len(c.Quals) + 3*c.Records
		if c.Forms.Default.Plus == record.PlusName {
			n += len(c.Names)
		}
	}
	for _, e := range c.Forms.Exceptions {
		n += len(e.PlusText)
	}
	for _, fields := range c.Forms.Fields {
		n += len(fields)
	}
	if w := c.Forms.Default.SeqWidth; w > 0 {
		n += int(c.Bases()) / int(w)
	}
	return n
}

// Render appends the text of c to dst. With ends not
// nil, ends[i] is set to the length of the text up to the end of record i.
func Render(dst []byte, f record.Rendering, kind record.Kind, c *Columns, ends []int) ([]byte, error) {
	return RenderPieces(dst, f, kind, c, ends, math.MaxInt, nil)
}

// RenderPieces is Render for text that is needed in pieces, of whole records: each of so many bytes at least is given to next, which
// returns memory for what follows. The last piece is returned.
func RenderPieces(dst []byte, f record.Rendering, kind record.Kind, c *Columns, ends []int, least int,
	next func(text []byte) ([]byte, error)) (_ []byte, err error) {
	before, at, twoBit := -len(dst), 0, c.Letters == nil && c.TwoBit != nil
	each := eachRecord{c: c, names: c.Names, exceptions: c.Forms.Exceptions}
	if f == record.AsFASTA {
		kind = record.FASTA
	}
	for i := range c.Records {
		n := c.Lengths.Of(i)
		switch {
		case f != record.AsLines:
			dst, err = each.append(dst, f, kind, i, at, at+n, twoBit)
		case twoBit:
			dst = append(c.TwoBit.AppendLetters(dst, at, at+n), '\n')
		default:
			dst = append(append(dst, c.Letters[at:at+n]...), '\n')
		}
		if err != nil {
			return dst, err
		}
		if at += n; ends != nil {
			ends[i] = before + len(dst)
		}
		if len(dst) >= least {
			before += len(dst)
			if dst, err = next(dst); err != nil {
				return nil, err
			}
		}
	}
	return dst, nil
}

// append appends the text of record i, the next one, whose bases are from..to-1. twoBit says that they are in two bits.
func (e *eachRecord) append(dst []byte, f record.Rendering, kind record.Kind, i, from, to int, twoBit bool) ([]byte, error) {
	name, err := e.name(i)
	if err != nil {
		return dst, err
	}
	form := &plain
	if f == record.AsRecords {
		form = e.form(i)
	}
	if twoBit {
		return record.AppendFASTA(dst, name, to-from, form, func(dst []byte, lo, hi, width int, end string) []byte {
			return e.c.TwoBit.AppendLines(dst, from+lo, from+hi, width, end)
		})
	}
	var qual []byte
	if e.c.Quals != nil {
		qual = e.c.Quals[from:to]
	}
	return record.AppendRecord(dst, kind, name, e.c.Letters[from:to], qual, form)
}

// plain is the form of records that are rendered as FASTA without the qualities that there were.
var plain record.Form

// eachRecord gives the names and forms of the records of columns, one after another.
type eachRecord struct {
	c          *Columns
	names      []byte // of the records that follow
	exceptions []record.FormException
	number     []byte      // memory
	withFields record.Form // of BAM
}

// name returns the name of record i, the next one, or its number if there are no names.
func (e *eachRecord) name(i int) ([]byte, error) {
	if e.names == nil {
		e.number = strconv.AppendUint(e.number[:0], e.c.From+uint64(i)+1, 10)
		return e.number, nil
	}
	k := bytes.IndexByte(e.names, '\n')
	if k < 0 {
		return nil, ErrNames
	}
	name := e.names[:k]
	e.names = e.names[k+1:]
	return name, nil
}

// form returns the form of record i, the next one.
func (e *eachRecord) form(i int) *record.Form {
	if fields := e.c.Forms.Fields; fields != nil {
		e.withFields = record.Form{Plus: record.BAMFields, PlusText: fields[i]}
		return &e.withFields
	}
	if len(e.exceptions) == 0 || e.exceptions[0].Read != uint32(i) {
		return &e.c.Forms.Default
	}
	l := e.exceptions[0].Form
	e.exceptions = e.exceptions[1:]
	return l
}
