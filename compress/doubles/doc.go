// Package doubles codes arrays of numbers: floats of 8 or 4 bytes and integers of 1 to 8, of either byte order, in files of numpy (.npy) and
// raw arrays behind headers of any length. All bits come back, also those of NaNs.
//
// Each value is predicted: by polynomials through the values before it, by the same through those of the row before, by a value some
// places before it, or by ratios. The method follows one published for GPUs, which takes the better of the orders 0 and i for each
// value and stores the XOR without its leading zero bytes. Here a block has the best pair of many predictions, the residual is an
// XOR or a difference of integers in the order of the numbers, and its number of bits is entropy-coded. Numbers that are decimals
// with few digits are taken as the integers that their digits are.
//
// docs/FORMAT.md, "Arrays", is the specification.
package doubles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"regexp"
	"strconv"
)

// ErrCorrupt reports a stream that Encode did not write, one that is damaged, or one of more data than the caller allows.
var ErrCorrupt = errors.New("doubles: the stream is damaged or cut off")

// Type is what the elements of an array are.
type Type byte

const (
	Float Type = iota
	Signed
	Unsigned
	types
)

// Layout says where the elements of an array are.
type Layout struct {
	Header    int // bytes before the first element
	Width     int // bytes of an element: 8 or 4; also 2 or 1 of integers
	Columns   int // elements of a row, or 0 if that is not known
	Type      Type
	BigEndian bool
}

// valid reports whether there are such elements.
func (l *Layout) valid() bool {
	return l.Width == 4 || l.Width == 8 || l.Type != Float && (l.Width == 1 || l.Width == 2)
}

var (
	npyType  = regexp.MustCompile(`'descr': *'([<>|])([fiu])([1248])'`)
	npyShape = regexp.MustCompile(`'shape': *\(([0-9, ]*)\)`)
)

// Npy returns the layout of a file of numpy, and false if data is none of numbers of 1, 2, 4 or 8 bytes.
func Npy(data []byte) (Layout, bool) {
	if !bytes.HasPrefix(data, []byte("\x93NUMPY")) || len(data) < 12 {
		return Layout{}, false
	}
	header := 10 + int(binary.LittleEndian.Uint16(data[8:]))
	if data[6] > 1 {
		header = 12 + int(binary.LittleEndian.Uint32(data[8:])&(1<<24-1))
	}
	if header > len(data) {
		return Layout{}, false
	}
	text := data[10:header]
	t, shape := npyType.FindSubmatch(text), npyShape.FindSubmatch(text)
	if t == nil || shape == nil {
		return Layout{}, false
	}
	l := Layout{Header: header, Width: int(t[3][0] - '0'), Type: map[byte]Type{'f': Float, 'i': Signed, 'u': Unsigned}[t[2][0]]}
	if l.BigEndian = t[1][0] == '>'; !l.valid() {
		return Layout{}, false
	}
	dims := bytes.FieldsFunc(shape[1], func(r rune) bool { return r == ',' || r == ' ' })
	if len(dims) > 1 {
		l.Columns, _ = strconv.Atoi(string(dims[len(dims)-1]))
		if l.Columns < 16 && len(dims) > 2 {
			n, _ := strconv.Atoi(string(dims[len(dims)-2]))
			l.Columns *= n
		}
	}
	if l.Columns > maxLag || l.Columns < 0 {
		l.Columns = 0
	}
	return l, true
}
