package compress

import (
	"bytes"
	"strconv"

	"orcomgo/bins/record"
)

// textSize returns how many bytes records of these columns take, not counting exceptions of forms.
func textSize(f record.Rendering, c *columns) int {
	n := int(c.bases()) + 2*c.records
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
	start := len(dst)
	names, quals, seqs := c.names, c.quals, c.letters
	exceptions := c.forms.Exceptions
	var number []byte
	for i := range c.records {
		n := c.lengths.Of(i)
		seq := seqs[:n]
		seqs = seqs[n:]
		if f == record.AsLines {
			dst = append(append(dst, seq...), '\n')
		} else {
			name := number
			if names != nil {
				k := bytes.IndexByte(names, '\n')
				if k < 0 {
					return dst, errNames
				}
				name, names = names[:k], names[k+1:]
			} else {
				number = strconv.AppendUint(number[:0], c.from+uint64(i)+1, 10)
				name = number
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
				l := &c.forms.Default
				if len(exceptions) > 0 && exceptions[0].Read == uint32(i) {
					l, exceptions = &exceptions[0].Form, exceptions[1:]
				}
				var err error
				if dst, err = record.AppendRecord(dst, kind, name, seq, qual, l); err != nil {
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
