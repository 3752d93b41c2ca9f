package compress

import (
	"bytes"
	"errors"
	"strconv"

	"orcomgo/bins/record"
	"orcomgo/compress/twobit"
)

// textSize returns how many bytes records of these columns take, not counting exceptions of forms.
func textSize(f record.Rendering, c *columns) int {
	n := int(c.bases()) + 2*c.records
	if c.twoBit != nil {
		n += twobit.Slack
	}
	if f == record.AsLines {
		return n
	}
	n += len(c.names) + c.records
	if c.names == nil {
		n += c.records * len(strconv.FormatUint(c.from+uint64(c.records), 10))
	}
	if f == record.AsRecords && c.quals != nil {
		n += len(c.quals) + 3*c.records
		if c.forms.Default.Plus == record.PlusName {
			n += len(c.names)
		}
	}
	if w := c.forms.Default.SeqWidth; w > 0 {
		n += int(c.bases()) / int(w)
	}
	return n
}

// render appends the text of c to dst. With ends not
// nil, ends[i] is set to the length of the text up to the end of record i.
func render(dst []byte, f record.Rendering, kind record.Kind, c *columns, ends []int) ([]byte, error) {
	if c.letters == nil && c.twoBit != nil {
		return renderTwoBit(dst, f, c, ends)
	}
	start := len(dst)
	quals, seqs := c.quals, c.letters
	each := eachRecord{c: c, names: c.names, exceptions: c.forms.Exceptions}
	for i := range c.records {
		n := c.lengths.Of(i)
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
	c          *columns
	names      []byte // of the records that follow
	exceptions []record.FormException
	number     []byte // memory
}

// name returns the name of record i, the next one, or its number if there are no names.
func (e *eachRecord) name(i int) ([]byte, error) {
	if e.names == nil {
		e.number = strconv.AppendUint(e.number[:0], e.c.from+uint64(i)+1, 10)
		return e.number, nil
	}
	k := bytes.IndexByte(e.names, '\n')
	if k < 0 {
		return nil, errNames
	}
	name := e.names[:k]
	e.names = e.names[k+1:]
	return name, nil
}

// form returns the form of record i, the next one.
func (e *eachRecord) form(i int) *record.Form {
	if len(e.exceptions) == 0 || e.exceptions[0].Read != uint32(i) {
		return &e.c.forms.Default
	}
	l := e.exceptions[0].Form
	e.exceptions = e.exceptions[1:]
	return l
}

// interleave appends the records of a and b in turn; ends are those that render gave.
func interleave(dst, a, b []byte, endsA, endsB []int) []byte {
	fromA, fromB := 0, 0
	for i := range endsA {
		dst = append(dst, a[fromA:endsA[i]]...)
		dst = append(dst, b[fromB:endsB[i]]...)
		fromA, fromB = endsA[i], endsB[i]
	}
	return dst
}

// renderTwoBit is render of FASTA without letters.
func renderTwoBit(dst []byte, f record.Rendering, c *columns, ends []int) ([]byte, error) {
	start, at := len(dst), 0
	each := eachRecord{c: c, names: c.names, exceptions: c.forms.Exceptions}
	for i := range c.records {
		n := c.lengths.Of(i)
		if f == record.AsLines {
			dst = append(c.twoBit.AppendLetters(dst, at, at+n), '\n')
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
				return c.twoBit.AppendLines(dst, at+from, at+to, width, end)
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

var errNames = errors.New("there are fewer names than records")
