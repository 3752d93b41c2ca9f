package compress

import (
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
	"orcomgo/compress/twobit"
)

// columns are the records of one input in a slice, in the order in which they are
// delivered. Byte slices may belong to a block and must not be changed.
type columns struct {
	input   int
	from    uint64   // the slice starts here in the input; record i is from+perm[i]
	perm    []uint32 // nil: input order
	run     []uint32 // the order of a whole run, where perm is the part of it from at on
	at      int
	records int

	// While a slice is decoded: of how many records, the first ones, columns are decoded. Lengths and forms are those of all records until
	// cut is called.
	first int

	lengths    record.Lengths
	forms      record.Forms
	names      []byte           // each followed by '\n'; nil if not kept
	leadNames  []byte           // of further mates: those of the first mates
	quals      []byte           // nil if not kept
	byBases    bool             // the qualities are coded given the letters, not the letters given the qualities
	letters    []byte           // of the sequences, end to end, or as lines; nil before they are decoded
	twoBit     *twobit.Sequence // of an input that is TwoBit: the sequences, decoded
	asText     bool             // decoding: where there is twoBit, letters are not needed
	exceptions record.ExceptionList

	// lines, if not nil, has the letters of each read followed by '\n', in memory for n bytes that it returns.
	lines  func(n int) []byte
	spans  []recordSpan // decoding: see demand
	skip   bool         // decoding: the letters are not wanted; see seqs.Column
	layout *seqs.Layout // decoding: if not nil, it is set to where the reads are

	// coded, if not nil, is told how many more qualities and bases were coded or decoded, by any goroutine.
	coded func(n int)
}

// inLines reports whether the letters of each read are followed by '\n', so that all of them are the text of the records.
func (c *columns) inLines() bool { return c.lines != nil }

// bases returns the sum of the lengths.
func (c *columns) bases() uint64 { return c.lengths.Sum(0, c.records) }

// cut removes what is not of the first records.
func (c *columns) cut() {
	if c.first == c.records {
		return
	}
	c.records = c.first
	c.lengths = c.lengths.Slice(0, c.first)
	c.forms = c.forms.Slice(0, uint32(c.first))
	if n := c.bases(); uint64(len(c.quals)) > n {
		c.quals = c.quals[:n]
	}
}

// keep removes names, qualities and letters unless they are wanted: other columns may have needed them.
func (c *columns) keep(wanted keeps) {
	if !wanted[archive.Names] {
		c.names = nil
	}
	if !wanted[archive.Quals] {
		c.quals = nil
	}
	if !wanted[archive.Seqs] {
		c.letters, c.twoBit = nil, nil
	}
}

// stretch is records lo..hi-1 of a block.
type stretch struct {
	b      *loaded
	lo, hi int
}

// gather returns the columns k of records [from, from+n) of an input, in input order; bs are
// the consecutive blocks that hold them. They have letters where the blocks have their reads.
func gather(input int, from uint64, n int, bs []*loaded, k keeps) (*columns, error) {
	c := &columns{input: input, from: from, records: n}
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

// permutation is an order to put the records of columns in.
type permutation struct {
	perm    []uint32       // the i-th record is to be perm[i]
	lengths record.Lengths // before
	starts  []int          // of the records in their bases, before
	inv     []uint32
}

// bytes returns a column that has a byte for each base in the new order; nil if it is nil.
func (p *permutation) bytes(b []byte) []byte {
	if b == nil {
		return nil
	}
	if p.starts == nil {
		p.starts = make([]int, len(p.perm)+1)
		for i := range p.perm {
			p.starts[i+1] = p.starts[i] + p.lengths.Of(i)
		}
	}
	out := make([]byte, 0, len(b))
	for _, i := range p.perm {
		out = append(out, b[p.starts[i]:p.starts[i+1]]...)
	}
	return out
}

// inverse returns where each record is to be.
func (p *permutation) inverse() []uint32 {
	if p.inv == nil {
		p.inv = make([]uint32, len(p.perm))
		for i, r := range p.perm {
			p.inv[r] = uint32(i)
		}
	}
	return p.inv
}

// permute puts c's records in the order of perm, in memory of its own.
func (c *columns) permute(perm []uint32) {
	p := &permutation{perm: perm, lengths: c.lengths}
	c.perm = perm
	for _, col := range table {
		col.permute(c, p)
	}
}

// recordSpan is records lo..hi-1 of a slice.
type recordSpan struct{ lo, hi int }
