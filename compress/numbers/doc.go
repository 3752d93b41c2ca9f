// Package numbers codes columns of integers of a table: those of text (package tables) and those of fixed records (package records).
//
// The bits of a value are coded from the highest to the lowest. Each bit divides the interval in which the value lies, and is
// predicted by several models: some predict the value (from earlier values of the column, or from other columns) and look at where
// their prediction is in the interval; others look up what followed the same context before. The logistic mixture of the predictions
// is coded (Mahoney, "Adaptive weighing of context models for lossless data compression", 2005). Which models a column has is
// decided by the encoder, by a sample, and is written in the stream.
//
// docs/FORMAT.md, "Number tables", is the specification.
package numbers

import "errors"

// ErrCorrupt reports a stream that Encode did not write for these arguments.
var ErrCorrupt = errors.New("numbers: stream is corrupt or truncated")

// MaxValue is the largest magnitude of a value.
const MaxValue = 1<<60 - 1

// Column is a column of a table.
type Column struct {
	Shape
	// Values has a value for each row, at most MaxValue in magnitude. Those of rows that the column does not have do not matter.
	Values []int64
	// Early columns are coded before the others, which are then predicted from them.
	Early bool
}

// Shape says which rows a column has. The zero value is not a column of all rows; AllRows is.
type Shape struct {
	// Given is the number of another column, or -1 if this one has all rows. That column must have all rows.
	Given int
	// Below: the column has a row if the value of the given column in it is less than Below.
	Below int64
	// Float32 says that values are those of OrderedFloat32. It matters for how they are predicted only.
	Float32 bool
}

// OrderedFloat32 returns a number from 0 to 2^32-1 for the bits of a float32. The numbers are in the order of the floats.
func OrderedFloat32(b uint32) int64 { return int64(b ^ (uint32(int32(b)>>31) | 1<<31)) }

// Float32Bits is the inverse of OrderedFloat32. It looks at the low 32 bits of v only.
func Float32Bits(v int64) uint32 { return uint32(v) ^ (uint32(^int32(v)>>31) | 1<<31) }

// AllRows is the shape of a column that has all rows.
var AllRows = Shape{Given: -1}
