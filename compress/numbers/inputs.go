package numbers

import (
	"encoding/binary"
	"math"

	"orcomgo/bins/parse"
)

// kind is the kind of a model of a column.
type kind byte

const (
	// Models that predict the value. x and y are other columns; "before" is the last row that the column has; "like" is the last row that
	// had the same values in the columns of the key, or before if there is none.
	previous   kind = iota // the value before
	line                   // the value before plus the last difference
	like                   // the value of the row like
	shifted                // the value before plus the difference of x to the row before
	likeShift              // the value of the row like plus the difference of x to that row
	likeLine               // the value of the row like plus its difference to the row like that
	likeRatio              // the value of the row like, times x, divided by x of that row
	likeSum                // the value that keeps its sum with those of columns x as it is in the row like
	affine                 // a times x plus b
	quotient               // a times x, divided by y
	product                // a times x times y
	next                   // the largest value so far plus 1
	regression             // online least squares on the row before, the row like and columns x
	context                // no prediction: what followed the same values of columns (each in the row itself) and the parts below
	kinds
)

// Parts of a context besides columns.
const (
	partPrevious = 1 << iota // the value before
	partSecond               // that before it
	partLike                 // the value of the row like
	partNext                 // whether the value before was the largest so far
	partsAll     = 1<<iota - 1
)

const (
	maxRefs = 12 // columns of a model
	maxKey  = 4  // columns of a key
)

// input is a model of a column.
type input struct {
	kind  kind
	parts byte  // of a context
	key   []int // columns
	refs  []int // columns
	a, b  float64
}

func (in *input) usesKey() bool {
	switch in.kind {
	case like, likeShift, likeLine, likeRatio, likeSum, regression:
		return true
	}
	return in.kind == context && in.parts&partLike != 0
}

// numRefs returns how few and how many columns a model of the kind has.
func (k kind) numRefs() (least, most int) {
	switch k {
	case shifted, likeShift, likeRatio, affine:
		return 1, 1
	case quotient, product:
		return 2, 2
	case regression, context, likeSum:
		return 0, maxRefs
	}
	return 0, 0
}

func appendList(dst []byte, list []int) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, v := range list {
		dst = binary.AppendUvarint(dst, uint64(v))
	}
	return dst
}

func (in *input) append(dst []byte) []byte {
	dst = append(dst, byte(in.kind))
	if in.kind == context {
		dst = append(dst, in.parts)
	}
	if in.usesKey() {
		dst = appendList(dst, in.key)
	}
	if _, most := in.kind.numRefs(); most > 0 {
		dst = appendList(dst, in.refs)
	}
	if in.kind == affine || in.kind == quotient || in.kind == product {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(in.a))
	}
	if in.kind == affine {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(in.b))
	}
	return dst
}

// readList reads numbers of columns.
func readList(r *parse.Cursor, least, most, columns int) []int {
	n := r.Int(most)
	if n < least {
		r.Fail("%d columns where at least %d are needed", n, least)
	}
	list := make([]int, n)
	for i := range list {
		list[i] = r.Int(columns - 1)
	}
	return list
}

func readInput(r *parse.Cursor, columns int) input {
	in := input{kind: kind(r.ByteAtMost(byte(kinds - 1)))}
	if r.Failed() {
		return input{}
	}
	if in.kind == context {
		in.parts = r.ByteAtMost(partsAll)
	}
	if in.usesKey() {
		in.key = readList(r, 0, maxKey, columns)
	}
	if least, most := in.kind.numRefs(); most > 0 {
		in.refs = readList(r, least, most, columns)
	}
	if in.kind == affine || in.kind == quotient || in.kind == product {
		in.a = r.Float64()
	}
	if in.kind == affine {
		in.b = r.Float64()
	}
	return in
}
