package numbers

import (
	"encoding/binary"
	"math"

	"orcomgo/bins/parse"
)

// kind is the kind of a model of a column.
type kind byte

// What pays is said as the share that the number tables of tables of text, or of InterOp, grow by without a kind.
const (
	// Models that predict the value. x and y are other columns; "before" is the last row that the column has; "like" is the last row that
	// had the same values in the columns of the key, or before if there is none, or no key.
	like      kind = iota // the value of the row like; without a key every column begins with it
	line                  // the value before plus the last difference: what counts, 9 % of StaticRun
	likeRatio             // the value of the row like, times x, divided by x of that row: 9 % of InterOp
	likeSum               // the value that changes a factor times as much as the sum of columns x since the row like: 5.6 % of InterOp
	quotient              // a times x, divided by y: 28 % of tables
	context               // no prediction: what followed the same values of columns (each in the row itself) and the parts below
	kinds
)

// Parts of a context besides columns.
const (
	partPrevious = 1 << iota // the value before
	partSecond               // that before it
	partsAll     = 1<<iota - 1
)

const (
	maxRefs = 12 // columns of a model
	maxKey  = 4  // columns of a key

	maxFactor = 1e6 // of likeSum
)

// input is a model of a column.
type input struct {
	kind  kind
	parts byte  // of a context
	key   []int // columns
	refs  []int // columns

	factor int64   // of likeSum
	a      float64 // of quotient
}

func (k kind) usesKey() bool { return k == like || k == likeRatio || k == likeSum }

// numRefs returns how few and how many columns a model of the kind has.
func (k kind) numRefs() (least, most int) {
	switch k {
	case likeRatio:
		return 1, 1
	case quotient:
		return 2, 2
	case context, likeSum:
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
	if in.kind.usesKey() {
		dst = appendList(dst, in.key)
	}
	if _, most := in.kind.numRefs(); most > 0 {
		dst = appendList(dst, in.refs)
	}
	switch in.kind {
	case likeSum:
		dst = binary.AppendVarint(dst, in.factor)
	case quotient:
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(in.a))
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
	if in.kind.usesKey() {
		in.key = readList(r, 0, maxKey, columns)
	}
	if least, most := in.kind.numRefs(); most > 0 {
		in.refs = readList(r, least, most, columns)
	}
	switch in.kind {
	case likeSum:
		in.factor = r.Varint(maxFactor)
	case quotient:
		in.a = r.Float64()
	}
	return in
}
