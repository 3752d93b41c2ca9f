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

// table holds the columns in the order of their identifiers, in which their errors are reported.
var table = [archive.Columns]*column{&lengthsColumn, &formsColumn, &namesColumn, &qualsColumn, &seqsColumn}

// Shared reports whether the members of a slice have one section together.
func Shared(c archive.Column) bool { return c >= archive.MemberColumns }

// Kept says which columns an input has.
type Kept [archive.Columns]bool

// KeptOf returns the columns of an input by the archive's options and the input's kind.
func KeptOf(o record.Options, kind record.Kind) (k Kept) {
	for _, c := range table {
		k[c.id] = c.kept == nil || c.kept(o, kind)
	}
	return k
}

// OnlyReads are the columns without which reads have no letters.
func OnlyReads() (k Kept) {
	k[archive.Lengths], k[archive.Seqs] = true, true
	return k
}

// fromBins returns what is to be read of the bins for these columns.
func (k *Kept) fromBins() (want bins.Columns) {
	for _, c := range table {
		if k[c.id] {
			want |= c.fromBins
		}
	}
	return want
}

// Sums are XXH3-64 of columns before they were coded; 0 where column.sum is nil.
type Sums [archive.Columns]uint64

func SumsOf(c *Columns) (sums Sums) {
	for _, col := range table {
		if col.sum != nil {
			sums[col.id] = col.sum(c)
		}
	}
	return sums
}

// UnitsOf returns how many units of a SliceMeter so many bases of an input are.
func UnitsOf(bases uint64, o record.Options, kind record.Kind) uint64 {
	if KeptOf(o, kind)[archive.Quals] {
		return 2 * bases
	}
	return bases
}
