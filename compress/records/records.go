// Package records codes binary data that consists of records of one length, such as the InterOp files of sequencers.
//
// The encoder finds the length of the records and how these divide into fields: integers and floating-point numbers. Each field
// becomes a column of integers, and the columns are coded together (package numbers), so that they can be predicted from earlier
// records, from records with the same values in other fields, and from other fields.
//
// docs/FORMAT.md, "Records", is the specification.
package records

import (
	"encoding/binary"
	"errors"

	"orcomgo/bins/parse"
	"orcomgo/compress/general"
	"orcomgo/compress/numbers"
	"orcomgo/internal/tasks"
)

// ErrCorrupt reports a stream that Encode did not write, one that is damaged, or one of more data than the caller allows.
var ErrCorrupt = errors.New("records: the stream is damaged or cut off")

// MaxSize is the most data that Encode takes, in bytes.
const MaxSize = 1 << 25

// A stream holds at most bytesPerByte bytes of data for each of its own; a reader refuses more, which would take memory for nothing.
const (
	bytesPerByte = 1 << 16
	slackBytes   = 64
)

// Encode codes the data that the layout was found of, at most MaxSize bytes. Fields are coded in places of the pool as well, which may be nil;
// the stream does not depend on it. It panics if data is longer, which is an error of the caller.
func (l *Layout) Encode(data []byte, pool *tasks.Pool) []byte {
	if len(data) > MaxSize {
		panic("records: data is too long")
	}
	out := binary.AppendUvarint(nil, uint64(l.header))
	out = appendFields(out, l.fields)
	out = append(out, data[:l.header]...)
	data = data[l.header:]
	rows := len(data) / l.Stride
	columns := make([]numbers.Column, len(l.fields))
	at := 0
	for i, f := range l.fields {
		columns[i] = numbers.Column{Shape: f.shape(), Values: make([]int64, rows)}
		for r := range rows {
			columns[i].Values[r] = f.value(data[r*l.Stride+at:])
		}
		at += f.width
	}
	return append(out, numbers.Encode(columns, pool)...)
}

// Decode is the inverse of Encode, for data of size bytes. It takes up to about 16 times as much memory as the data.
func Decode(stream []byte, size int) ([]byte, error) {
	r := &parse.Cursor{Rest: stream}
	header := r.Int(size)
	fields := make([]field, r.Int(general.MaxStride))
	if r.Failed() || size > MaxSize || size > (len(stream)+slackBytes)*bytesPerByte {
		return nil, ErrCorrupt
	}
	stride := 0
	shapes := make([]numbers.Shape, len(fields))
	for i := range fields {
		b := r.Byte()
		fields[i] = field{fieldType(b >> 4), int(b & 15)}
		if r.Failed() || !fields[i].valid() {
			return nil, ErrCorrupt
		}
		stride += fields[i].width
		shapes[i] = fields[i].shape()
	}
	head := r.Bytes(uint64(header))
	if r.Failed() || stride == 0 || (size-header)%stride != 0 {
		return nil, ErrCorrupt
	}
	rows := (size - header) / stride
	columns, err := numbers.Decode(r.Rest, shapes, rows)
	if err != nil {
		return nil, ErrCorrupt
	}
	data := append(make([]byte, 0, size), head...)[:size]
	at := header
	for i, f := range fields {
		for r, v := range columns[i] {
			f.put(data[at+r*stride:], v)
		}
		at += f.width
	}
	return data, nil
}
