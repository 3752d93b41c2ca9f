package compress

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
	gather func(c *columns, from []stretch) error
	// permute puts c's records in another order, where c has the column.
	permute func(c *columns, p *permutation)
	// sum is a checksum of the column of c, by which verification compares what comes back where
	// the text may be another one; nil if it is compared in another way.
	sum func(c *columns) uint64
}

// table holds the columns in the order of their identifiers, in which their errors are reported.
var table = [archive.Columns]*column{&lengthsColumn, &formsColumn, &namesColumn, &qualsColumn, &seqsColumn}

// shared reports whether the members of a slice have one section together.
func shared(c archive.Column) bool { return c >= archive.MemberColumns }

// keeps says which columns an input has.
type keeps [archive.Columns]bool

// keepsOf returns the columns of an input by the archive's options and the input's kind.
func keepsOf(o record.Options, kind record.Kind) (k keeps) {
	for _, c := range table {
		k[c.id] = c.kept == nil || c.kept(o, kind)
	}
	return k
}

// onlyReads are the columns without which reads have no letters.
func onlyReads() (k keeps) {
	k[archive.Lengths], k[archive.Seqs] = true, true
	return k
}

// fromBins returns what is to be read of the bins for these columns.
func (k *keeps) fromBins() (want bins.Columns) {
	for _, c := range table {
		if k[c.id] {
			want |= c.fromBins
		}
	}
	return want
}

// columnSums are XXH3-64 of columns before they were coded; 0 where column.sum is nil.
type columnSums [archive.Columns]uint64

func sumColumns(c *columns) (sums columnSums) {
	for _, col := range table {
		if col.sum != nil {
			sums[col.id] = col.sum(c)
		}
	}
	return sums
}

// unitsOf returns how many units of a sliceMeter so many bases of an input are.
func unitsOf(bases uint64, o record.Options, kind record.Kind) uint64 {
	if keepsOf(o, kind)[archive.Quals] {
		return 2 * bases
	}
	return bases
}
