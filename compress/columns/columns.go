// Package columns holds the records of one input in a slice as columns: names, qualities, letters, lengths and forms. It takes them from
// the blocks of bins, puts them in another order, and renders them as text.
package columns

import (
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
	"orcomgo/compress/twobit"
)

// Columns are the records of one input in a slice, in the order in which they are
// delivered. Byte slices may belong to a block and must not be changed.
type Columns struct {
	Input   int
	From    uint64   // the slice starts here in the input; record i is from+perm[i]
	Perm    []uint32 // nil: input order
	Run     []uint32 // the order of a whole run, where perm is the part of it from at on
	At      int
	Records int

	// While a slice is decoded: of how many records, the first ones, columns are decoded. Lengths and forms are those of all records until
	// cut is called.
	First int

	Lengths    record.Lengths
	Forms      record.Forms
	Names      []byte           // each followed by '\n'; nil if not kept
	LeadNames  []byte           // of further mates: those of the first mates
	Quals      []byte           // nil if not kept
	ByBases    bool             // the qualities are coded given the letters, not the letters given the qualities
	Letters    []byte           // of the sequences, end to end, or as lines; nil before they are decoded
	TwoBit     *twobit.Sequence // of an input that is TwoBit: the sequences, decoded
	AsText     bool             // decoding: where there is TwoBit, letters are not needed
	Exceptions record.ExceptionList

	// lines, if not nil, has the letters of each read followed by '\n', in memory for n bytes that it returns.
	Lines  func(n int) []byte
	Spans  []Span       // decoding: see demand
	Skip   bool         // decoding: the letters are not wanted; see seqs.Column
	Layout *seqs.Layout // decoding: if not nil, it is set to where the reads are

	// coded, if not nil, is told how many more qualities and bases were coded or decoded, by any goroutine.
	Coded func(n int)
}

// InLines reports whether the letters of each read are followed by '\n', so that all of them are the text of the records.
func (c *Columns) InLines() bool { return c.Lines != nil }

// Bases returns the sum of the lengths.
func (c *Columns) Bases() uint64 { return c.Lengths.Sum(0, c.Records) }

// Cut removes what is not of the first records.
func (c *Columns) Cut() {
	if c.First == c.Records {
		return
	}
	c.Records = c.First
	c.Lengths = c.Lengths.Slice(0, c.First)
	c.Forms = c.Forms.Slice(0, uint32(c.First))
	if n := c.Bases(); uint64(len(c.Quals)) > n {
		c.Quals = c.Quals[:n]
	}
}

// Keep removes names, qualities and letters unless they are wanted: other columns may have needed them.
func (c *Columns) Keep(wanted Kept) {
	if !wanted[archive.Names] {
		c.Names = nil
	}
	if !wanted[archive.Quals] {
		c.Quals = nil
	}
	if !wanted[archive.Seqs] {
		c.Letters, c.TwoBit = nil, nil
	}
}

// stretch is records lo..hi-1 of a block.
type stretch struct {
	b      *Block
	lo, hi int
}

// Gather returns the columns k of records [from, from+n) of an input, in input order; bs are
// the consecutive blocks that hold them. They have letters where the blocks have their reads.
func Gather(input int, from uint64, n int, bs []*Block, k Kept) (*Columns, error) {
	c := &Columns{Input: input, From: from, Records: n}
	if n == 0 {
		return c, nil
	}
	var stretches []stretch
	for at, end := from, from+uint64(n); at < end; {
		b := bs[len(stretches)]
		lo := int(at - b.FirstRecord)
		hi := int(min(end-b.FirstRecord, uint64(b.Records)))
		stretches = append(stretches, stretch{b, lo, hi})
		at += uint64(hi - lo)
	}
	for _, col := range table {
		if k[col.id] {
			if err := col.gather(c, stretches); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// Permutation is an order to put the records of columns in.
type Permutation struct {
	Perm    []uint32       // the i-th record is to be perm[i]
	lengths record.Lengths // before
	starts  []int          // of the records in their bases, before
	inv     []uint32
}

// bytes returns a column that has a byte for each base in the new order; nil if it is nil.
func (p *Permutation) bytes(b []byte) []byte {
	if b == nil {
		return nil
	}
	if p.starts == nil {
		p.starts = make([]int, len(p.Perm)+1)
		for i := range p.Perm {
			p.starts[i+1] = p.starts[i] + p.lengths.Of(i)
		}
	}
	out := make([]byte, 0, len(b))
	for _, i := range p.Perm {
		out = append(out, b[p.starts[i]:p.starts[i+1]]...)
	}
	return out
}

// inverse returns where each record is to be.
func (p *Permutation) inverse() []uint32 {
	if p.inv == nil {
		p.inv = make([]uint32, len(p.Perm))
		for i, r := range p.Perm {
			p.inv[r] = uint32(i)
		}
	}
	return p.inv
}

// Permute puts c's records in the order of perm, in memory of its own.
func (c *Columns) Permute(perm []uint32) {
	p := &Permutation{Perm: perm, lengths: c.Lengths}
	c.Perm = perm
	for _, col := range table {
		col.permute(c, p)
	}
}

// Span is records lo..hi-1 of a slice.
type Span struct{ Lo, Hi int }
