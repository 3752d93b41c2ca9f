// Package columns holds the records of one input in a slice as columns: names, qualities, letters, lengths and forms. It takes them from
// the blocks of bins, puts them in another order, and renders them as text.
package columns

import (
	"bytes"
	"errors"

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
	// Half is 1 or 2 of the first or second mates of an interleaved input, else 0. Record i is from+2*i or from+2*i+1 then.
	Half int

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

	// Coded, if not nil, is told how many more units of a SliceMeter were coded or decoded, by any goroutine: see Work.
	Coded func(n int)
	Work  Work
}

// InLines reports whether the letters of each read are followed by '\n', so that all of them are the text of the records.
func (c *Columns) InLines() bool { return c.Lines != nil }

// Bases returns the sum of the lengths.
func (c *Columns) Bases() uint64 { return c.Lengths.Sum(0, c.Records) }

// Sequences returns a function that returns the letters of a record, of which letters has those of all; nil for a record that is not there.
func (c *Columns) Sequences(letters []byte) func(i int) []byte {
	starts := c.Lengths.Starts()
	return func(i int) []byte {
		if i >= c.Records {
			return nil
		}
		at := starts.Of(i)
		if end := at + c.Lengths.Of(i); end <= len(letters) {
			return letters[at:end]
		}
		return nil
	}
}

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

// Permutation is an order to put the records of columns in.
type Permutation struct {
	Perm    []uint32       // the i-th record is to be perm[i]
	lengths record.Lengths // before
	starts  *record.Starts // of the records in their bases, before
	inv     []uint32
}

// bytes returns a column that has a byte for each base in the new order; nil if it is nil.
func (p *Permutation) bytes(b []byte) []byte {
	if b == nil {
		return nil
	}
	if p.starts == nil {
		starts := p.lengths.Starts()
		p.starts = &starts
	}
	out := make([]byte, 0, len(b))
	for _, i := range p.Perm {
		at := p.starts.Of(int(i))
		out = append(out, b[at:at+p.lengths.Of(int(i))]...)
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

// Span is records lo..hi-1 of a slice.
type Span struct{ Lo, Hi int }

// Kept says which columns an input has, or which are wanted.
type Kept [archive.Columns]bool

// Only returns these columns.
func Only(columns ...archive.Column) (k Kept) {
	for _, c := range columns {
		k[c] = true
	}
	return k
}

// OnlyReads are the columns without which reads have no letters.
func OnlyReads() Kept { return Only(archive.Lengths, archive.Seqs) }

// Wanted returns those of k that are in only; all of them if that is empty.
func (k Kept) Wanted(only Kept) Kept {
	if only == (Kept{}) {
		return k
	}
	for c := range k {
		k[c] = k[c] && only[c]
	}
	return k
}

// ErrNames is the error for names that are cut off.
var ErrNames = errors.New("there are fewer names than records")

// NameStarts returns where each of n names begins, and where they end. Each is followed by '\n'.
func NameStarts(names []byte, n int) ([]int, error) {
	starts := make([]int, n+1)
	for i := range n {
		end := bytes.IndexByte(names[starts[i]:], '\n')
		if end < 0 {
			return nil, ErrNames
		}
		starts[i+1] = starts[i] + end + 1
	}
	return starts, nil
}
