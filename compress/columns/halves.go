package columns

import (
	"cmp"
	"slices"

	"orcomgo/bins/record"
	"orcomgo/compress/seqs"
)

// Reads are those of an input, or the first or the second mates of an interleaved one. They have models of their own.
type Reads struct {
	Input  int
	Second bool // of an interleaved input
}

// Reads returns whose columns these are.
func (c *Columns) Reads() Reads { return Reads{c.Input, c.Half == 2} }

// Halves returns the first and the second mates of columns of an interleaved input, in memory of their own.
func Halves(c *Columns) (halves [2]*Columns) {
	for m := range halves {
		perm := make([]uint32, c.Records/2)
		for i := range perm {
			perm[i] = uint32(2*i + m)
		}
		h := *c
		h.Forms = record.Forms{}
		h.Permute(perm)
		h.Half, h.Records, h.Perm = m+1, len(perm), nil
		h.Forms.Default, h.Forms.Fields = c.Forms.Default, permuted(c.Forms.Fields, perm)
		for _, e := range c.Forms.Exceptions {
			if int(e.Read)%2 == m {
				h.Forms.Exceptions = append(h.Forms.Exceptions, record.FormException{Read: e.Read / 2, Form: e.Form})
			}
		}
		halves[m] = &h
	}
	return halves
}

// FromHalves is the inverse of Halves, for columns that were decoded: exceptions are in the letters.
func FromHalves(halves [2]*Columns) *Columns {
	a, b, n := halves[0], halves[1], halves[0].Records
	c := &Columns{Input: a.Input, From: a.From, Records: 2 * n, First: 2 * n, Lengths: a.Lengths}
	if a.Lengths.Each != nil || b.Lengths.Each != nil || a.Lengths.Fixed != b.Lengths.Fixed {
		c.Lengths = record.Lengths{}
		for i := range n {
			c.Lengths.Each = append(c.Lengths.Each, uint32(a.Lengths.Of(i)), uint32(b.Lengths.Of(i)))
		}
	}
	ofRead := func(m, i int, _ []byte) int { return halves[m].Lengths.Of(i) }
	c.Quals, c.Letters = Alternate(nil, n, a.Quals, b.Quals, ofRead), Alternate(nil, n, a.Letters, b.Letters, ofRead)
	c.Names = Alternate(nil, n, a.Names, b.Names, func(_, _ int, rest []byte) int { return AfterNames(rest, 1) })
	c.Forms.Default = a.Forms.Default
	for i := range min(len(a.Forms.Fields), len(b.Forms.Fields)) {
		c.Forms.Fields = append(c.Forms.Fields, a.Forms.Fields[i], b.Forms.Fields[i])
	}
	for m, h := range halves {
		for _, e := range appendForms(nil, &h.Forms, 0, n, 0, &c.Forms.Default) {
			c.Forms.Exceptions = append(c.Forms.Exceptions, record.FormException{Read: 2*e.Read + uint32(m), Form: e.Form})
		}
	}
	slices.SortFunc(c.Forms.Exceptions, func(x, y record.FormException) int { return cmp.Compare(x.Read, y.Read) })
	if a.Layout != nil {
		c.Layout = seqs.InterleaveLayouts(a.Layout, b.Layout)
	}
	return c
}

// Alternate appends n items of a and of b in turn to dst, in new memory if that is nil. It returns nil if a is nil. size returns that of
// item i of one of the two, which rest begins with.
func Alternate(dst []byte, n int, a, b []byte, size func(of, i int, rest []byte) int) []byte {
	switch {
	case a == nil:
		return nil
	case dst == nil:
		dst = make([]byte, 0, len(a)+len(b))
	}
	for i := range n {
		x, y := size(0, i, a), size(1, i, b)
		dst = append(append(dst, a[:x]...), b[:y]...)
		a, b = a[x:], b[y:]
	}
	return dst
}
