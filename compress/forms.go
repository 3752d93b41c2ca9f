package compress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"orcomgo/bins/record"

	"github.com/klauspost/compress/zstd"
)

// The column of forms says how the text of a slice's records was laid out beyond names,
// sequences and qualities. For plain four-line records it takes no bytes at all. Otherwise
// it is two streams: the forms as record.MarshalForms gives them, with empty texts after
// '+', and those texts, which are most often a name of some kind, coded as names.

var errForms = errors.New("the column of forms is malformed")

// eachPlusText calls f for every text after '+', the default's first.
func eachPlusText(l *record.Forms, f func(*string)) {
	if l.Default.Plus == record.PlusText {
		f(&l.Default.PlusText)
	}
	for i := range l.Exceptions {
		if e := &l.Exceptions[i]; e.Plus == record.PlusText {
			f(&e.PlusText)
		}
	}
}

// encodeForms returns the column of forms of a slice; l is not changed.
func encodeForms(l *record.Forms) []byte {
	if l.IsDefault() {
		return nil
	}
	bare := record.Forms{Default: l.Default, Exceptions: append([]record.FormException(nil), l.Exceptions...)}
	var texts []byte
	n := 0
	eachPlusText(&bare, func(s *string) {
		texts = append(append(texts, *s...), '\n')
		*s = ""
		n++
	})
	out := appendPacked(nil, record.MarshalForms(nil, &bare))
	if n > 0 {
		out = binary.AppendUvarint(out, uint64(len(texts)))
		out = append(out, encodeNames(texts, n)...)
	}
	return out
}

// decodeForms is the inverse of encodeForms for a slice of the given number of records.
func decodeForms(data []byte, records int) (record.Forms, error) {
	if len(data) == 0 {
		return record.Forms{}, nil
	}
	bare, rest, err := takePacked(data)
	if err != nil {
		return record.Forms{}, err
	}
	l, err := record.UnmarshalForms(bare, records)
	if err != nil {
		return l, err
	}
	n := 0
	eachPlusText(&l, func(*string) { n++ })
	if n == 0 {
		if len(rest) > 0 {
			return l, errForms
		}
		return l, nil
	}
	size, k := binary.Uvarint(rest)
	if k <= 0 {
		return l, errForms
	}
	texts, err := decodeNames(rest[k:], n, size)
	if err != nil {
		return l, err
	}
	eachPlusText(&l, func(s *string) {
		if i := bytes.IndexByte(texts, '\n'); i >= 0 {
			*s, texts = string(texts[:i]), texts[i+1:]
			n--
		}
	})
	if n != 0 || len(texts) != 0 {
		return l, errForms
	}
	return l, nil
}

// Ways to store a stream.
const (
	storedPlain = iota
	storedZstd
)

// zstdCoder returns the coder of the first stream of forms. Both directions are asked for
// whole buffers only, which is safe for concurrent use.
var zstdCoder = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
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
	v, k := binary.Uvarint(b)
	if k <= 0 || v>>1 > uint64(len(b)-k) {
		return nil, nil, errForms
	}
	s, rest = b[k:k+int(v>>1)], b[k+int(v>>1):]
	if v&1 == storedZstd {
		_, d := zstdCoder()
		if s, err = d.DecodeAll(s, nil); err != nil {
			return nil, nil, fmt.Errorf("%w: %v", errForms, err)
		}
	}
	return s, rest, nil
}
