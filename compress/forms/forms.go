// Package forms codes the column of forms. It says how the text of a slice's records was laid out beyond names,
// sequences and qualities. For plain four-line records it takes no bytes at all. Otherwise
// it is two streams: the forms as record.MarshalForms gives them, with empty texts after
// '+', and those texts, which are most often a name of some kind, coded as names. The fields of
// records of BAM, if there are any, are a third one, of package tags.
package forms

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"orcomgo/bins/parse"
	"orcomgo/bins/record"
	"orcomgo/compress/names"
	"orcomgo/compress/tags"

	"github.com/klauspost/compress/zstd"
)

var errForms = errors.New("the column of forms is malformed")

// changeTexts replaces every text after '+' by what f makes of it, the default's first.
func changeTexts(l *record.Forms, f func(text string) string) {
	if l.Default.Plus == record.PlusText {
		l.Default.PlusText = f(l.Default.PlusText)
	}
	var made *record.Form
	for i := range l.Exceptions {
		e := &l.Exceptions[i]
		if e.Plus != record.PlusText {
			continue
		}
		own := *e.Form
		if own.PlusText = f(e.PlusText); made == nil || !made.Equal(&own) {
			made = new(record.Form)
			*made = own
		}
		e.Form = made
	}
}

// countTexts returns how many texts after '+' forms have.
func countTexts(l *record.Forms) (n int) {
	if l.Default.Plus == record.PlusText {
		n++
	}
	for i := range l.Exceptions {
		if l.Exceptions[i].Plus == record.PlusText {
			n++
		}
	}
	return n
}

// Encode returns the column of forms of a slice; l is not changed. bases returns the letters of a record's read: with it, tags are given
// them; it may be nil.
func Encode(l *record.Forms, bases func(record int) []byte) []byte {
	if l.IsDefault() {
		return nil
	}
	bare := record.Forms{Default: l.Default, Exceptions: append([]record.FormException(nil), l.Exceptions...)}
	var texts []byte
	n := 0
	changeTexts(&bare, func(text string) string {
		texts = append(append(texts, text...), '\n')
		n++
		return ""
	})
	out := appendPacked(nil, record.MarshalForms(nil, &bare))
	if n > 0 {
		out = binary.AppendUvarint(out, uint64(len(texts)))
		out = append(out, names.Encode(texts, n)...)
	}
	if len(l.Fields) > 0 {
		out = append(out, tags.Encode(l.Fields, bases)...)
	}
	return out
}

// Decode is the inverse of Encode for a slice of the given number of records, whose text has limit bytes at most.
func Decode(data []byte, records int, bases func(record int) []byte, limit uint64) (record.Forms, error) {
	if len(data) == 0 {
		return record.Forms{}, nil
	}
	bare, rest, err := takePacked(data)
	if err != nil {
		return record.Forms{}, err
	}
	if string(bare) == string(record.MarshalForms(nil, &record.Forms{Default: record.BAMForm})) {
		fields, err := tags.Decode(rest, records, bases, limit)
		return record.Forms{Default: record.BAMForm, Fields: fields}, err
	}
	l, err := record.UnmarshalForms(bare, records)
	if err != nil {
		return l, err
	}
	n := countTexts(&l)
	switch {
	case n > 0:
		err = decodeTexts(&l, rest, n)
	case l.Fields != nil || len(rest) > 0:
		err = errForms
	}
	return l, err
}

// decodeTexts decodes the n texts after '+'.
func decodeTexts(l *record.Forms, data []byte, n int) error {
	size, k := parse.Uvarint(data)
	if k <= 0 {
		return errForms
	}
	texts, err := names.Decode(data[k:], n, size)
	if err != nil {
		return err
	}
	changeTexts(l, func(text string) string {
		if i := bytes.IndexByte(texts, '\n'); i >= 0 {
			text, texts = string(texts[:i]), texts[i+1:]
			n--
		}
		return text
	})
	if n != 0 || len(texts) != 0 {
		return errForms
	}
	return nil
}

// Ways to store a stream.
const (
	storedPlain = iota
	storedZstd
)

// zstdCoder returns the coder of the first stream of forms. Both directions are asked for
// whole buffers only, which is safe for concurrent use.
var zstdCoder = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are constants
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(1<<32))
	if err != nil {
		panic(err)
	}
	return e, d
})

// appendPacked appends a stream: its stored length << 1 | way, and the bytes.
func appendPacked(dst, s []byte) []byte {
	way := uint64(storedPlain)
	if len(s) > 32 {
		e, _ := zstdCoder()
		if z := e.EncodeAll(s, nil); len(z) < len(s) {
			s, way = z, storedZstd
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(s))<<1|way)
	return append(dst, s...)
}

// takePacked returns the first stream of b and what follows it.
func takePacked(b []byte) (s, rest []byte, err error) {
	v, k := parse.Uvarint(b)
	if k <= 0 || v>>1 > uint64(len(b)-k) {
		return nil, nil, errForms
	}
	s, rest = b[k:k+int(v>>1)], b[k+int(v>>1):]
	if v&1 == storedZstd {
		_, d := zstdCoder()
		if s, err = d.DecodeAll(s, nil); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", errForms, err)
		}
	}
	return s, rest, nil
}
