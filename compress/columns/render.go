package columns

import (
	"bytes"
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
	if w := c.Forms.Default.SeqWidth; w > 0 {
		n += int(c.Bases()) / int(w)
	}
	return n
}

// Render appends the text of c to dst. With ends not
// nil, ends[i] is set to the length of the text up to the end of record i.
func Render(dst []byte, f record.Rendering, kind record.Kind, c *Columns, ends []int) ([]byte, error) {
	if c.Letters == nil && c.TwoBit != nil {
		return renderTwoBit(dst, f, c, ends)
	}
	start := len(dst)
	quals, seqs := c.Quals, c.Letters
	each := eachRecord{c: c, names: c.Names, exceptions: c.Forms.Exceptions}
	for i := range c.Records {
		n := c.Lengths.Of(i)
		seq := seqs[:n]
		seqs = seqs[n:]
		if f == record.AsLines {
			dst = append(append(dst, seq...), '\n')
		} else {
			name, err := each.name(i)
			if err != nil {
				return dst, err
			}
			if f == record.AsFASTA {
				dst = append(append(dst, '>'), name...)
				dst = append(dst, '\n')
				dst = append(append(dst, seq...), '\n')
			} else {
				var qual []byte
				if quals != nil {
					qual, quals = quals[:n], quals[n:]
				}
				if dst, err = record.AppendRecord(dst, kind, name, seq, qual, each.form(i)); err != nil {
					return dst, err
				}
			}
		}
		if ends != nil {
			ends[i] = len(dst) - start
		}
	}
	return dst, nil
}

// eachRecord gives the names and forms of the records of columns, one after another.
type eachRecord struct {
	c          *Columns
	names      []byte // of the records that follow
	exceptions []record.FormException
	number     []byte // memory
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
	if len(e.exceptions) == 0 || e.exceptions[0].Read != uint32(i) {
		return &e.c.Forms.Default
	}
	l := e.exceptions[0].Form
	e.exceptions = e.exceptions[1:]
	return l
}

// Interleave appends the records of a and b in turn; ends are those that render gave.
func Interleave(dst, a, b []byte, endsA, endsB []int) []byte {
	fromA, fromB := 0, 0
	for i := range endsA {
		dst = append(dst, a[fromA:endsA[i]]...)
		dst = append(dst, b[fromB:endsB[i]]...)
		fromA, fromB = endsA[i], endsB[i]
	}
	return dst
}

// renderTwoBit is render of FASTA without letters.
func renderTwoBit(dst []byte, f record.Rendering, c *Columns, ends []int) ([]byte, error) {
	start, at := len(dst), 0
	each := eachRecord{c: c, names: c.Names, exceptions: c.Forms.Exceptions}
	for i := range c.Records {
		n := c.Lengths.Of(i)
		if f == record.AsLines {
			dst = append(c.TwoBit.AppendLetters(dst, at, at+n), '\n')
		} else {
			name, err := each.name(i)
			if err != nil {
				return dst, err
			}
			form := &record.Form{}
			if f == record.AsRecords {
				form = each.form(i)
			}
			dst, err = record.AppendFASTA(dst, name, n, form, func(dst []byte, from, to, width int, end string) []byte {
				return c.TwoBit.AppendLines(dst, at+from, at+to, width, end)
			})
			if err != nil {
				return dst, err
			}
		}
		at += n
		if ends != nil {
			ends[i] = len(dst) - start
		}
	}
	return dst, nil
}
