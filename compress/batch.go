package compress

import (
	"bytes"
	"strconv"
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

	cols    *columns
	picked  []uint32 // records of cols; nil: all
	names   []int    // where the name of each record of cols begins; nil without names
	starts  []int    // bases before each record of cols; nil: they are all of the same length
	numbers bool     // names are numbers
}

// newBatch returns the records of c in spans.
func newBatch(c *columns, spans []recordSpan, numbers bool) (*Batch, error) {
	b := &Batch{Input: c.input, cols: c, numbers: numbers}
	if len(spans) != 1 || spans[0] != (recordSpan{0, c.records}) {
		b.picked = []uint32{}
		for _, s := range spans {
			for i := s.lo; i < s.hi; i++ {
				b.picked = append(b.picked, uint32(i))
			}
		}
	}
	if c.names != nil {
		b.names = make([]int, c.records+1)
		for i := range c.records {
			end := bytes.IndexByte(c.names[b.names[i]:], '\n')
			if end < 0 {
				return nil, errNames
			}
			b.names[i+1] = b.names[i] + end + 1
		}
	}
	if c.lengths.Each != nil {
		b.starts = make([]int, c.records)
		at := 0
		for i := range c.records {
			b.starts[i] = at
			at += c.lengths.Of(i)
		}
	}
	return b, nil
}

// Len returns the number of records.
func (b *Batch) Len() int {
	if b.picked != nil {
		return len(b.picked)
	}
	return b.cols.records
}

// Record returns record i of the batch.
func (b *Batch) Record(i int) Record {
	if b.picked != nil {
		i = int(b.picked[i])
	}
	c := b.cols
	r := Record{Input: b.Input, Number: c.from + uint64(i)}
	switch {
	case b.names != nil:
		r.Name = c.names[b.names[i] : b.names[i+1]-1]
	case b.numbers:
		r.Name = strconv.AppendUint(nil, r.Number+1, 10)
	}
	n := c.lengths.Of(i)
	at := i * n
	if b.starts != nil {
		at = b.starts[i]
	}
	if c.letters != nil {
		r.Bases = c.letters[at : at+n]
	}
	if c.quals != nil {
		r.Quals = c.quals[at : at+n]
	}
	return r
}
