package tables

import (
	"slices"

	"orcomgo/bins/parse"
)

// numeric is a column of numbers, scaled to integers.
type numeric struct {
	decimals int // of the values
	// styles say how each field is written: with so many decimals or, from floatStyle on, as the shortest text of the float64 that is
	// style - floatStyle steps from the number.
	styles []int64 // nil of a decoded column of which all have the decimals but zeros
	zeros  int     // decimals of these
	values []int64
}

const (
	maxSteps   = 64 // the largest distance of a float64 from the number that it was likely computed for
	floatStyle = 100
	maxStyle   = floatStyle + maxSteps
)

// parseNumeric parses a column of numbers. It reports false if the column is not one.
func parseNumeric(fields [][]byte) (*numeric, bool) {
	n := &numeric{styles: make([]int64, len(fields)), values: make([]int64, len(fields))}
	decimals := make([]decimal, len(fields))
	var histogram [maxDigits + 1]int
	for i, f := range fields {
		var ok bool
		if decimals[i], ok = parseDecimal(f); !ok {
			return nil, false
		}
		histogram[decimals[i].decimals]++
	}
	n.decimals = scaleOf(histogram[:], len(fields))
	for i, f := range fields {
		d := decimals[i]
		more := n.decimals - d.decimals // digits, of which there are maxDigits together at most
		if more >= 0 && more < maxDigits && max(d.value, -d.value) <= powers[maxDigits-more] {
			n.values[i], n.styles[i] = d.value*powers[more], int64(d.decimals)
			continue
		}
		v, steps, ok := parseFloat(f, n.decimals)
		if !ok {
			return nil, false
		}
		n.values[i], n.styles[i] = v, floatStyle+steps
	}
	return n, true
}

// header returns what the column is, its decimals and, if it has only these and styles can be told from values, the decimals of zeros.
func (n *numeric) header() []byte {
	zeros := int64(n.decimals)
	if at := slices.Index(n.values, 0); at >= 0 {
		zeros = n.styles[at]
	}
	for r, s := range n.styles {
		if n.values[r] != 0 && s != int64(n.decimals) || n.values[r] == 0 && s != zeros {
			return []byte{columnMixed, byte(n.decimals)}
		}
	}
	return []byte{columnFixed, byte(n.decimals), byte(zeros)}
}

// readNumeric is the inverse of header. styles are nil if they are in a column of integers.
func readNumeric(kind byte, in *parse.Cursor) *numeric {
	n := &numeric{decimals: int(in.ByteAtMost(maxDigits))}
	if n.zeros = n.decimals; kind == columnFixed {
		n.zeros = int(in.ByteAtMost(byte(n.decimals)))
	}
	return n
}

// scaleOf returns the number of decimals for the values of a column, given how many fields have 0, 1, ... decimals: the largest, or if
// that is from 12 on, the largest below that many fields have.
func scaleOf(histogram []int, total int) int {
	chosen := 0
	for k, n := range histogram {
		if n > 0 {
			chosen = k
		}
	}
	if chosen >= 12 {
		for k, n := range histogram[:12] {
			if n*8 > total {
				chosen = k
			}
		}
	}
	return chosen
}

// appendField appends the field of a row, and reports false if there is no such style.
func (n *numeric) appendField(dst []byte, r int) ([]byte, bool) {
	v, s := n.values[r], int64(n.decimals)
	switch {
	case n.styles != nil:
		s = n.styles[r]
	case v == 0:
		s = int64(n.zeros)
	}
	switch {
	case s >= 0 && s <= int64(n.decimals):
		return appendFixed(dst, v/powers[n.decimals-int(s)], int(s)), true
	case s >= floatStyle-maxSteps && s <= maxStyle:
		return appendFloat(dst, v, n.decimals, s-floatStyle), true
	}
	return nil, false
}
