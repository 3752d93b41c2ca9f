package restoring

import (
	"strconv"

	"orcomgo/bins/record"
	"orcomgo/compress/columns"
)

// Record is a record of an input. Its slices must not be changed.
type Record struct {
	Input  int    // number of the input
	Number uint64 // in the input, counted from 0, in the order in which unpack restores the records
	Name   []byte // without '@' or '>'; the number, counted from 1, if names were dropped; nil if they were not kept or not asked for
	Bases  []byte // nil if not asked for
	Quals  []byte // the bytes of the text; nil if there are none or they were not asked for
}

// Batch is some records of an input, in their order. It is not used again for other records.
type Batch struct {
	Input int
	// Mate are the second mates of these records, if both inputs of a pair are asked for.
	Mate *Batch

	cols    *columns.Columns
	picked  []uint32      // records of cols; nil: all
	names   []int         // where the name of each record of cols begins; nil without names
	starts  record.Starts // of the records of cols in their bases
	numbers bool          // names are numbers
}

// NewBatch returns the records of c in spans.
func NewBatch(c *columns.Columns, spans []columns.Span, numbers bool) (*Batch, error) {
	b := &Batch{Input: c.Input, cols: c, starts: c.Lengths.Starts(), numbers: numbers}
	if len(spans) != 1 || spans[0] != (columns.Span{Lo: 0, Hi: c.Records}) {
		b.picked = []uint32{}
		for _, s := range spans {
			for i := s.Lo; i < s.Hi; i++ {
				b.picked = append(b.picked, uint32(i))
			}
		}
	}
	if c.Names != nil {
		var err error
		if b.names, err = columns.NameStarts(c.Names, c.Records); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Len returns the number of records.
func (b *Batch) Len() int {
	if b.picked != nil {
		return len(b.picked)
	}
	return b.cols.Records
}

// Record returns record i of the batch.
func (b *Batch) Record(i int) Record {
	if b.picked != nil {
		i = int(b.picked[i])
	}
	c := b.cols
	r := Record{Input: b.Input, Number: c.From + uint64(i)}
	switch {
	case b.names != nil:
		r.Name = c.Names[b.names[i] : b.names[i+1]-1]
	case b.numbers:
		r.Name = strconv.AppendUint(nil, r.Number+1, 10)
	}
	n, at := c.Lengths.Of(i), b.starts.Of(i)
	if c.Letters != nil {
		r.Bases = c.Letters[at : at+n]
	}
	if c.Quals != nil {
		r.Quals = c.Quals[at : at+n]
	}
	return r
}
