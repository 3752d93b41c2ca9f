// Package numbers codes columns of integers of a table: those of text (package tables) and those of fixed records (package records).
//
// The bits of a value are coded from the highest to the lowest. Each bit divides the interval in which the value lies, and is
// predicted by how often values occurred, and by a model that predicts the value, from earlier values of the column or from other
// columns, and looks at where its prediction is in the interval. The logistic mixture of the predictions is coded (Mahoney, "Adaptive
// weighing of context models for lossless data compression", 2005). Which model a column has is decided by the encoder, by a sample,
// and is written in the stream.
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
	// Values has a value for each row, at most MaxValue in magnitude.
	Values []int64
	// Float32 says that values are those of OrderedFloat32. It matters for how they are predicted only.
	Float32 bool
}

// OrderedFloat32 returns a number from 0 to 2^32-1 for the bits of a float32. The numbers are in the order of the floats.
func OrderedFloat32(b uint32) int64 { return int64(b ^ (uint32(int32(b)>>31) | 1<<31)) }

// Float32Bits is the inverse of OrderedFloat32. It looks at the low 32 bits of v only.
func Float32Bits(v int64) uint32 { return uint32(v) ^ (uint32(^int32(v)>>31) | 1<<31) }
