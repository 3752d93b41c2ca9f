// Package tags codes the fields of records of BAM: what a record has beyond its name, sequence and qualities (package bam).
//
// Each tag is a column: integers, the letters of strings, the elements of arrays. Which tags a record has, in which order and of which
// types, is its layout. There are few different layouts, and few different bytes before the tags, so both are numbers of entries of lists.
// Columns of integers, and the lengths of strings and arrays, are coded as tables of numbers (package numbers): columns with equally many
// values predict each other. Strings are coded as names or as bytes of any kind, arrays as arrays or bytes, whichever takes less.
//
// docs/FORMAT.md, "Fields of BAM", is the specification.
package tags

import (
	"errors"
	"slices"
	"unsafe"

	"orcomgo/bins/bam"
	"orcomgo/bins/parse"
	"orcomgo/compress/doubles"
)

// ErrCorrupt reports a stream that Encode did not write.
var ErrCorrupt = errors.New("tags: the stream is damaged or cut off")

// A stream is the list of what is before the tags, that of layouts (list.append), the tables of numbers of all columns, and then the bytes
// of the columns that have any.

// Encode returns the fields of records as a stream. bases returns the letters of the read of record i; if it is nil, nothing is given them.
func Encode(fields []string, bases func(i int) []byte) []byte {
	heads, layouts := newList(), newList()
	var columns columnSet
	var layout []byte
	for i, text := range fields {
		b := unsafe.Slice(unsafe.StringData(text), len(text)) // which is only read
		at := bam.Tags(b)
		heads.add(b[:at])
		layout = layout[:0]
		for b = b[at:]; len(b) > 0; {
			k, value, rest := cutTag(b)
			columns.of(k).add(k, value, i, len(fields))
			layout, b = append(layout, k[:]...), rest
		}
		layouts.add(layout)
	}
	out := layouts.append(heads.append(nil))
	for _, t := range columns.tables() {
		out = parse.AppendBlock(out, t.encode())
	}
	given := &reads{bases: bases}
	for _, c := range columns.list {
		out = c.appendBytes(out, given)
	}
	return out
}

// Decode is the inverse of Encode for n records, whose tags have limit bytes at most.
func Decode(data []byte, n int, bases func(i int) []byte, limit uint64) ([]string, error) {
	in := &parse.Cursor{Rest: data}
	heads, headOf, err := parseList(in, n)
	if err != nil {
		return nil, err
	}
	layouts, layoutOf, err := parseList(in, n)
	if err != nil {
		return nil, err
	}
	columns, ok := columnsOf(layouts, layoutOf, int(min(uint64(mostValues(len(data))), limit)))
	if !ok {
		return nil, ErrCorrupt
	}
	for _, t := range columns.tables() {
		if err := t.decode(in.Block()); err != nil {
			return nil, err
		}
	}
	given, room := &reads{bases: bases}, 32*n // for the fields, about
	for _, c := range columns.list {
		if err := c.parseBytes(in, given, limit); err != nil {
			return nil, err
		}
		limit -= uint64(len(c.bytes))
		room += len(c.bytes)
	}
	if !in.Done() {
		return nil, ErrCorrupt
	}
	columnOf := make([][]*column, len(layouts))
	for i, layout := range layouts {
		for k := range slices.Chunk(layout, keyLen) {
			columnOf[i] = append(columnOf[i], columns.of(key(k)))
		}
	}
	fields, b := make([]string, n), make([]byte, 0, room) // the fields share memory
	for i := range fields {
		at := len(b)
		b = append(b, heads[headOf[i]]...)
		layout := layouts[layoutOf[i]]
		for k, c := range columnOf[layoutOf[i]] {
			var ok bool
			if b, ok = c.appendNext(b, key(layout[k*keyLen:][:keyLen])); !ok {
				return nil, ErrCorrupt
			}
		}
		fields[i] = unsafe.String(unsafe.SliceData(b[at:]), len(b)-at)
	}
	return fields, nil
}

// pieceLen is how many bytes of a column are coded at a time.
const pieceLen = doubles.MaxSize
