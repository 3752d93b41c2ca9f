// Package tables codes text that consists of tables: values separated by tabs, commas, semicolons or spaces (TSV, CSV), by their columns.
// Any text comes back, byte for byte.
//
// Lines with the same number of fields are a table; all other lines are coded as text (package general). A column of numbers becomes
// a column of integers, with how each field is written beside it; decimals are scaled to integers. Other columns become a dictionary and
// its numbers, or, if few strings occur again, a list of strings (package names). All columns of integers of a table are coded together
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
	columnNumbers    = iota // forms and values
	columnDictionary        // strings that occur again
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
	out = parse.AppendBlock(out, numbers.Encode([]numbers.Column{{Shape: numbers.AllRows, Values: l.kinds}}, pool))
	out = binary.AppendUvarint(out, uint64(len(l.segments)))
	for _, s := range l.segments {
		out = binary.AppendUvarint(out, uint64(s.columns))
		out = binary.AppendUvarint(out, uint64(len(s.rows)))
		out = parse.AppendBlock(out, encodeSegment(s, l.delimiter, pool))
	}
	return out
}

// codedColumn is a column ready to be written: its header, and its columns of integers.
type codedColumn struct {
	header  []byte
	numeric *numeric         // or nil
	lists   []numbers.Column // Given is relative to the first one, or -1
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
	coded := make([]codedColumn, s.columns)
	pool.Each(len(fields), func(i int) { coded[i] = encodeColumn(fields[i]) })
	var headers []byte
	var lists []numbers.Column
	var numerics []*numeric
	for _, c := range coded {
		headers = append(headers, c.header...)
		for _, l := range c.lists {
			if l.Given >= 0 {
				l.Given = len(lists) - 1
			}
			lists = append(lists, l)
		}
		numerics = append(numerics, c.numeric)
	}
	helpers := fractions(numerics)
	return append(binary.AppendUvarint(headers, uint64(len(helpers))), numbers.Encode(append(lists, helpers...), pool)...)
}

func encodeColumn(fields [][]byte) codedColumn {
	if n, ok := parseNumeric(fields); ok {
		c := codedColumn{header: n.appendHeader([]byte{columnNumbers}), numeric: n}
		if len(n.forms) > 1 {
			c.lists = append(c.lists, numbers.Column{Shape: numbers.AllRows, Values: n.form})
		}
		c.lists = append(c.lists, numbers.Column{Shape: n.shape(0), Values: n.values})
		return c
	}
	words, list := dictionary(fields)
	if len(words) == len(fields) {
		return codedColumn{header: parse.AppendBlock([]byte{columnStrings}, codeStrings(fields))}
	}
	header := binary.AppendUvarint([]byte{columnDictionary}, uint64(len(words)))
	return codedColumn{
		header: parse.AppendBlock(header, codeStrings(words)),
		lists:  []numbers.Column{{Shape: numbers.AllRows, Values: list}},
	}
}

// shape returns the shape of the column of values, given the number of that of the forms.
func (n *numeric) shape(forms int) numbers.Shape {
	if n.numbers == len(n.forms) {
		return numbers.AllRows
	}
	return numbers.Shape{Given: forms, Below: int64(n.numbers)}
}
