// Package tables codes text that consists of tables: values separated by tabs, commas, semicolons or spaces (TSV, CSV), by their columns.
// Any text comes back, byte for byte.
//
// Lines with the same number of fields are a table; all other lines are coded as text (package general). A column of numbers becomes
// a column of integers, with how each field is written beside it; decimals are scaled to integers. Other columns
// are lists of strings (packages names and general). All columns of integers of a table are coded together
// (package numbers), so that they can be predicted from each other.
//
// docs/FORMAT.md, "Tables", is the specification.
package tables

import (
	"encoding/binary"
	"errors"

	"orcomgo/bins/parse"
	"orcomgo/compress/general"
	"orcomgo/compress/numbers"
	"orcomgo/internal/tasks"
)

// ErrCorrupt reports a stream that Encode did not write, one that is damaged, or one of more text than the caller allows.
var ErrCorrupt = errors.New("tables: the stream is damaged or cut off")

// MaxSize is the largest text that Encode takes, in bytes.
const MaxSize = 1 << 25

// A stream holds at most bytesPerByte bytes of text for each of its own; a reader refuses more, which would take memory for nothing.
const (
	bytesPerByte = 1 << 16
	slackBytes   = 64
)

// A column of a table is one of these.
const (
	columnFixed = iota // values with the same number of decimals, zeros with another one
	columnMixed        // styles and values
	columnStrings
	columnKinds
)

// Encode codes text of at most MaxSize bytes, also in places of the pool, which may be nil. The stream does not depend on it.
// It panics if the text is longer, which is an error of the caller.
func Encode(text []byte, pool *tasks.Pool) []byte {
	if len(text) > MaxSize {
		panic("tables: text is too long")
	}
	l := cut(text)
	out := binary.AppendUvarint([]byte{l.delimiter, parse.Flags(l.crlf)}, uint64(len(l.kinds)))
	out = parse.AppendBlock(out, general.Encode(l.loose))
	out = parse.AppendBlock(out, numbers.Encode([]numbers.Column{{Values: l.kinds}}, pool))
	out = binary.AppendUvarint(out, uint64(len(l.segments)))
	for _, s := range l.segments {
		out = binary.AppendUvarint(out, uint64(s.columns))
		out = binary.AppendUvarint(out, uint64(len(s.rows)))
		out = parse.AppendBlock(out, encodeSegment(s, l.delimiter, pool))
	}
	return out
}

// encodeSegment codes the rows of a table: the headers of its columns, and then their integers.
func encodeSegment(s *segment, delimiter byte, pool *tasks.Pool) []byte {
	fields := make([][][]byte, s.columns)
	for i := range fields {
		fields[i] = make([][]byte, len(s.rows))
	}
	for r, row := range s.rows {
		for i := range fields {
			fields[i][r], row, _ = cutField(row, delimiter)
		}
	}
	numerics, strings := make([]*numeric, s.columns), make([][]byte, s.columns)
	pool.Each(len(fields), func(i int) {
		if n, ok := parseNumeric(fields[i]); ok {
			numerics[i] = n
		} else {
			strings[i] = codeStrings(fields[i])
		}
	})
	var lists []numbers.Column
	var out []byte
	for i, n := range numerics {
		if n == nil {
			out = parse.AppendBlock(append(out, columnStrings), strings[i])
			continue
		}
		header := n.header()
		if out = append(out, header...); header[0] == columnMixed {
			lists = append(lists, numbers.Column{Values: n.styles})
		}
		lists = append(lists, numbers.Column{Values: n.values})
	}
	return append(out, numbers.Encode(lists, pool)...)
}

// Decode is the inverse of Encode, for text of size bytes. It takes up to about 20 times as much memory as the text.
func Decode(stream []byte, size int) ([]byte, error) {
	if size > MaxSize || size > (len(stream)+slackBytes)*bytesPerByte {
		return nil, ErrCorrupt
	}
	in := &parse.Cursor{Rest: stream}
	text, err := readText(in, size)
	if err != nil || len(in.Rest) > 0 || len(text) != size {
		return nil, ErrCorrupt
	}
	return text, nil
}

func readText(r *parse.Cursor, size int) ([]byte, error) {
	l := &layout{delimiter: r.Byte(), crlf: r.ByteAtMost(1) == 1}
	lines := r.Int(size)
	loose, kinds := r.Block(), r.Block()
	segments := r.Int(size)
	if r.Failed() {
		return nil, ErrCorrupt
	}
	var err error
	if l.loose, err = general.Decode(loose, size); err != nil {
		return nil, ErrCorrupt
	}
	lists, err := numbers.Decode(kinds, make([]bool, 1), lines)
	if err != nil {
		return nil, ErrCorrupt
	}
	l.kinds = lists[0]
	counts := make([]int, min(segments, len(r.Rest)+1)) // rows of each segment
	for _, k := range l.kinds {
		if k < 0 || k > int64(len(counts)) {
			return nil, ErrCorrupt
		}
		if k > 0 {
			counts[k-1]++
		}
	}
	tables := make([][]column, 0, len(counts))
	for i := range segments {
		columns, rows := r.Int(maxColumns), r.Int(size)
		code := r.Block()
		// A row has as many delimiters, and a line end in place of the last one.
		if r.Failed() || rows != counts[i] || columns*rows > size {
			return nil, ErrCorrupt
		}
		t, err := decodeSegment(code, columns, rows, size)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return l.join(len(tables), func(dst []byte, s, r int) ([]byte, error) {
		for i, c := range tables[s] {
			if i > 0 {
				dst = append(dst, l.delimiter)
			}
			ok := true
			if c.numeric == nil {
				dst = append(dst, c.words[r]...)
			} else {
				dst, ok = c.numeric.appendField(dst, r)
			}
			if !ok || len(dst) > size {
				return nil, ErrCorrupt
			}
		}
		return dst, nil
	}, size)
}

// column is a decoded column of a table.
type column struct {
	numeric *numeric // or nil
	words   [][]byte
}

func decodeSegment(code []byte, columns, rows, size int) ([]column, error) {
	in := &parse.Cursor{Rest: code}
	table, mixed := make([]column, columns), make([]bool, columns)
	lists := 0     // of integers
	budget := size // for the strings of all columns
	for i := range table {
		var err error
		c, kind := &table[i], in.ByteAtMost(columnKinds-1)
		if kind == columnStrings {
			c.words, err = decodeStrings(in.Block(), rows, budget)
		} else {
			c.numeric = readNumeric(kind, in)
			lists++
		}
		if mixed[i] = kind == columnMixed; mixed[i] {
			lists++
		}
		if in.Failed() || err != nil {
			return nil, ErrCorrupt
		}
		for _, w := range table[i].words {
			budget -= len(w) + 1
		}
	}
	values, err := numbers.Decode(in.Rest, make([]bool, lists), rows)
	if err != nil {
		return nil, ErrCorrupt
	}
	for i, c := range table {
		if c.numeric == nil {
			continue
		}
		if mixed[i] {
			c.numeric.styles, values = values[0], values[1:]
		}
		c.numeric.values, values = values[0], values[1:]
	}
	return table, nil
}
