package tags

import (
	"encoding/binary"
	"slices"

	"orcomgo/bins/parse"
	"orcomgo/compress/general"
	"orcomgo/compress/numbers"
)

// list has the different values of a column, in the order in which they first occur, and which of them each record has.
type list struct {
	values  []byte // each with its length before it
	numbers map[string]int64
	of      []int64
}

func newList() *list { return &list{numbers: make(map[string]int64)} }

func (l *list) add(value []byte) {
	i, ok := l.numbers[string(value)]
	if !ok {
		i = int64(len(l.numbers))
		l.numbers[string(value)] = i
		l.values = parse.AppendBlock(l.values, value)
	}
	l.of = append(l.of, i)
}

// append appends how many values there are and how many bytes they have, the bytes piece by piece, and the numbers of the values.
func (l *list) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(l.numbers)))
	dst = binary.AppendUvarint(dst, uint64(len(l.values)))
	for piece := range slices.Chunk(l.values, pieceLen) {
		dst = parse.AppendBlock(dst, general.Encode(piece))
	}
	return parse.AppendBlock(dst, table{{numbers: l.of}}.encode())
}

// parseList parses a list of n records: the values, and which each record has.
func parseList(in *parse.Cursor, n int) (values [][]byte, of []int64, err error) {
	values = make([][]byte, in.Int(min(n, len(in.Rest)*1<<16)))
	c := &parse.Cursor{}
	for left := in.Int(1 << 36); left > 0; {
		piece, err := general.Decode(in.Block(), min(left, pieceLen))
		if err != nil || len(piece) != min(left, pieceLen) {
			return nil, nil, ErrCorrupt
		}
		c.Rest, left = append(c.Rest, piece...), left-len(piece)
	}
	for i := range values {
		values[i] = c.Block()
	}
	t := table{{rows: n}}
	if err := t.decode(in.Block()); err != nil || !c.Done() {
		return nil, nil, ErrCorrupt
	}
	for _, i := range t[0].numbers {
		if i < 0 || i >= int64(len(values)) {
			return nil, nil, ErrCorrupt
		}
	}
	return values, t[0].numbers, nil
}

// table is columns of equally many numbers, one or more.
type table []*column

func (t table) encode() []byte {
	columns := make([]numbers.Column, len(t))
	for i, c := range t {
		columns[i] = numbers.Column{Float32: c.key[2] == 'f', Values: c.numbers}
	}
	return numbers.Encode(columns, nil)
}

func (t table) decode(data []byte) error {
	float32s := make([]bool, len(t))
	for i, c := range t {
		float32s[i] = c.key[2] == 'f'
	}
	values, err := numbers.Decode(data, float32s, t[0].rows)
	if err != nil {
		return ErrCorrupt
	}
	for i, c := range t {
		c.numbers = values[i]
	}
	return nil
}

// mostValues returns how many values of tags a stream of so many bytes has at most. More would take memory for nothing.
func mostValues(size int) int { return min((size+64)<<15, 1<<28) }
