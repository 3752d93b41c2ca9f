package numbers

import (
	"encoding/binary"
	"math"
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

// reader takes numbers off a stream. After an error it returns zeros.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > limit {
		r.failed, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 || v > MaxValue || v < -MaxValue {
		r.failed, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.failed, r.b = true, nil
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) float() float64 {
	b := r.take(8)
	if r.failed {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// list reads numbers of columns.
func (r *reader) list(least, most, columns int) []int {
	n := int(r.uvarint(uint64(most)))
	if n < least {
		r.failed = true
	}
	list := make([]int, n)
	for i := range list {
		list[i] = int(r.uvarint(uint64(columns - 1)))
	}
	return list
}

func (r *reader) input(columns int) input {
	b := r.take(1)
	if r.failed || kind(b[0]) >= kinds {
		r.failed = true
		return input{}
	}
	in := input{kind: kind(b[0])}
	if in.kind == context {
		if p := r.take(1); !r.failed {
			in.parts = p[0] & partsAll
			r.failed = p[0] > partsAll
		}
	}
	if in.usesKey() {
		in.key = r.list(0, maxKey, columns)
	}
	if least, most := in.kind.numRefs(); most > 0 {
		in.refs = r.list(least, most, columns)
	}
	if in.kind == affine || in.kind == quotient || in.kind == product {
		in.a = r.float()
	}
	if in.kind == affine {
		in.b = r.float()
	}
	return in
}
