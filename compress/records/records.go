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
	"slices"

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

// Layout is what records data consists of.
type Layout struct {
	// Bits is about how many bits Encode takes for a byte of the data: too many where fields follow from other fields.
	Bits float64

	Stride int // bytes of a record

	header int // bytes before the first record
	fields []field
}

// Find finds the fields of data that consists of records of stride bytes. It is much faster than Encode.
func Find(data []byte, stride int) *Layout {
	header := len(data) % stride
	fields, cost := split(data[header:], stride)
	return &Layout{cost / float64(stride), stride, header, fields}
}

// Encode codes the data that the layout was found of, at most MaxSize bytes. Fields are coded in places of the pool as well, which may
// be nil; the stream does not depend on it. It panics if data is longer, which is an error of the caller.
func (l *Layout) Encode(data []byte, pool *tasks.Pool) []byte {
	if len(data) > MaxSize {
		panic("records: data is too long")
	}
	out := binary.AppendUvarint(nil, uint64(l.header))
	out = binary.AppendUvarint(out, uint64(len(l.fields)))
	for _, f := range l.fields {
		out = append(out, byte(f))
	}
	out = append(out, data[:l.header]...)
	data = data[l.header:]
	rows := len(data) / l.Stride
	columns := make([]numbers.Column, len(l.fields))
	at := 0
	for i, f := range l.fields {
		columns[i] = numbers.Column{Float32: f == isFloat32, Values: make([]int64, rows)}
		for r := range rows {
			columns[i].Values[r] = f.value(data[r*l.Stride+at:])
		}
		at += f.width()
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
	float32s := make([]bool, len(fields))
	for i := range fields {
		fields[i] = field(r.Byte())
		if r.Failed() || !slices.Contains(fieldsTried, fields[i]) {
			return nil, ErrCorrupt
		}
		stride += fields[i].width()
		float32s[i] = fields[i] == isFloat32
	}
	head := r.Bytes(uint64(header))
	if r.Failed() || stride == 0 || (size-header)%stride != 0 {
		return nil, ErrCorrupt
	}
	rows := (size - header) / stride
	columns, err := numbers.Decode(r.Rest, float32s, rows)
	if err != nil {
		return nil, ErrCorrupt
	}
	data := append(make([]byte, 0, size), head...)[:size]
	at := header
	for i, f := range fields {
		for r, v := range columns[i] {
			f.put(data[at+r*stride:], v)
		}
		at += f.width()
	}
	return data, nil
}
