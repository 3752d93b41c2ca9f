// Package doubles codes arrays of numbers: floats of 8 or 4 bytes and integers of 1 to 8, of either byte order, in files of numpy
// (.npy) and raw arrays behind headers of any length. All bits come back, also those of NaNs.
//
// Each value is predicted: by polynomials through the values before it, by the same through those of the row before, by a value some
// places before it, or by ratios. The method follows one published for GPUs, which takes the better of the orders 0 and i for each
// value and stores the XOR without its leading zero bytes. Here a block has the best pair of many predictions, the residual is an
// XOR or a difference of integers in the order of the numbers, and its number of bits is entropy-coded. Numbers that are decimals
// with few digits are taken as the integers that their digits are.
//
// docs/FORMAT.md, "Arrays", is the specification.
package doubles

import "errors"

// ErrCorrupt reports a stream that Encode did not write, one that is damaged, or one of more data than the caller allows.
var ErrCorrupt = errors.New("doubles: the stream is damaged or cut off")

// Layout says where the elements of an array are.
type Layout struct {
	Header    int // bytes before the first element
	Width     int // bytes of an element: 8 or 4; also 2 or 1 of integers
	Floats    bool
	BigEndian bool
}

// valid reports whether there are such elements.
func (l *Layout) valid() bool {
	return l.Width == 4 || l.Width == 8 || !l.Floats && (l.Width == 1 || l.Width == 2)
}
