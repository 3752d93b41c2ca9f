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
		h.Forms.Default = c.Forms.Default
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
	c := &Columns{Input: a.Input, From: a.From, Records: 2 * n, First: 2 * n, Lengths: a.Lengths,
		Names: append(slices.Clip(a.Names), b.Names...), Quals: append(slices.Clip(a.Quals), b.Quals...),
		Letters: append(slices.Clip(a.Letters), b.Letters...)}
	if a.Lengths.Each != nil || b.Lengths.Each != nil || a.Lengths.Fixed != b.Lengths.Fixed {
		c.Lengths = record.Lengths{}
		for i := range c.Records {
			c.Lengths.Each = append(c.Lengths.Each, uint32(halves[i/n].Lengths.Of(i%n)))
		}
	}
	perm := make([]uint32, c.Records)
	for i := range perm {
		perm[i] = uint32(i/2 + i%2*n)
	}
	c.Permute(perm)
	c.Perm = nil
	c.Forms.Default = a.Forms.Default
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
