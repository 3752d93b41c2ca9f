package columns

import (
	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
)

// column is a row of the table of columns: all that the stages do with one column. A new
// column takes an identifier in package archive, a field in columns, a file with its row, and
// the row's name here.
type column struct {
	id archive.Column
	// kept reports whether an input of a kind has the column under options o; nil: always.
	kept func(o record.Options, kind record.Kind) bool
	// fromBins are the columns of the bins that it is made of, but for names and qualities, which
	// are read for a slice at a time.
	fromBins bins.Columns
	// gather takes the column of consecutive stretches of blocks into c.
	gather func(c *Columns, from []stretch) error
	// permute puts c's records in another order, where c has the column.
	permute func(c *Columns, p *Permutation)
	// sum is a checksum of the column of c, by which verification compares what comes back where
	// the text may be another one; nil if it is compared in another way.
	sum func(c *Columns) uint64
}
