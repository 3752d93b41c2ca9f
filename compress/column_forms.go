package compress

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/names"

	"github.com/klauspost/compress/zstd"
)

// The column of forms says how the text of a slice's records was laid out beyond names,
// sequences and qualities. For plain four-line records it takes no bytes at all. Otherwise
// it is two streams: the forms as record.MarshalForms gives them, with empty texts after
// '+', and those texts, which are most often a name of some kind, coded as names.

var formsColumn = column{
	id: archive.Forms,
	// Records whose qualities were not kept come back as FASTA, one line a sequence.
	kept: func(o record.Options, kind record.Kind) bool {
		return !o.ReadsOnly && (!kind.Format().Quals || o.Quality != record.QualityDrop)
	},
	fromBins: bins.WantForms,
	gather:   gatherForms,
	permute:  permuteForms,
	sum:      func(c *columns) uint64 { return archive.Hash64(record.MarshalForms(nil, &c.forms)) },
	encode: func(_ context.Context, _ *encoder, cols *[2]*columns, m int) ([]byte, error) {
		return encodeForms(&cols[m].forms), nil
	},
	decode: func(_ *packed, b *batch, m int, data []byte) (err error) {
		b.cols[m].forms, err = decodeForms(data, b.cols[m].records)
		return err
	},
}

func gatherForms(c *columns, from []stretch) error {
	// The form of the longest stretch is the default of the slice.
	main := from[0]
	for _, s := range from {
		if s.hi-s.lo > main.hi-main.lo {
			main = s
		}
	}
	c.forms.Default = main.b.Forms.Default
	base := 0
	for _, s := range from {
		c.forms.Exceptions = appendForms(c.forms.Exceptions, &s.b.Forms, s.lo, s.hi, base, &c.forms.Default)
		base += s.hi - s.lo
	}
	return nil
}

// appendForms appends to dst the records lo..hi of l that differ from def, numbered from base.
func appendForms(dst []record.FormException, l *record.Forms, lo, hi, base int, def *record.Form) []record.FormException {
	es := l.Slice(uint32(lo), uint32(hi)).Exceptions
	if l.Default.Equal(def) {
		for _, e := range es {
			e.Read += uint32(base)
			dst = append(dst, e)
		}
		return dst
	}
	own := l.Default // of a block whose memory is used again
	for i := range uint32(hi - lo) {
		r := &own
		if len(es) > 0 && es[0].Read == i {
			r, es = es[0].Form, es[1:]
		}
		if !r.Equal(def) {
			dst = append(dst, record.FormException{Read: i + uint32(base), Form: r})
		}
	}
	return dst
}

// permuteForms also gives the last record of a file, which may now be anywhere, an ordinary end:
// a missing newline and blank lines belong to the end of the file.
func permuteForms(c *columns, p *permutation) {
	if c.forms.IsDefault() {
		return
	}
	l := &c.forms
	l.Default.NoNewline, l.Default.Tail = false, ""
	var kept []record.FormException
	for _, e := range l.Exceptions {
		if e.NoNewline || e.Tail != "" {
			own := *e.Form
			own.NoNewline, own.Tail = false, ""
			e.Form = &own
		}
		if !e.Form.Equal(&l.Default) {
			e.Read = p.inverse()[e.Read]
			kept = append(kept, e)
		}
	}
	slices.SortFunc(kept, func(a, b record.FormException) int { return int(a.Read) - int(b.Read) })
	l.Exceptions = kept
}

var errForms = errors.New("the column of forms is malformed")

// changePlusTexts replaces every text after '+' by what f makes of it, the default's first.
func changePlusTexts(l *record.Forms, f func(text string) string) {
	if l.Default.Plus == record.PlusText {
		l.Default.PlusText = f(l.Default.PlusText)
	}
	for i := range l.Exceptions {
		e := &l.Exceptions[i]
		if e.Plus != record.PlusText {
			continue
		}
		if text := f(e.PlusText); text != e.PlusText {
			own := *e.Form
			own.PlusText = text
			e.Form = &own
		}
	}
}

// plusTexts returns how many texts after '+' there are.
func plusTexts(l *record.Forms) (n int) {
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

// encodeForms returns the column of forms of a slice; l is not changed.
func encodeForms(l *record.Forms) []byte {
	if l.IsDefault() {
		return nil
	}
	bare := record.Forms{Default: l.Default, Exceptions: append([]record.FormException(nil), l.Exceptions...)}
	var texts []byte
	n := 0
	changePlusTexts(&bare, func(text string) string {
		texts = append(append(texts, text...), '\n')
		n++
		return ""
	})
	out := appendPacked(nil, record.MarshalForms(nil, &bare))
	if n > 0 {
		out = binary.AppendUvarint(out, uint64(len(texts)))
		out = append(out, names.Encode(texts, n)...)
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
	n := plusTexts(&l)
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
	texts, err := names.Decode(rest[k:], n, size)
	if err != nil {
		return l, err
	}
	changePlusTexts(&l, func(text string) string {
		if i := bytes.IndexByte(texts, '\n'); i >= 0 {
			text, texts = string(texts[:i]), texts[i+1:]
			n--
		}
		return text
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
			return nil, nil, fmt.Errorf("%w: %w", errForms, err)
		}
	}
	return s, rest, nil
}
