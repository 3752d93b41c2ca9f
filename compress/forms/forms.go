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

	"orcomgo/bins/parse"
	"orcomgo/bins/record"
	"orcomgo/compress/names"
	rc "orcomgo/compress/rangecoder"
	"orcomgo/compress/tags"
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
	out := appendBare(nil, record.MarshalForms(nil, &bare))
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
	in := &parse.Cursor{Rest: data}
	bare, err := takeBare(in)
	if err != nil {
		return record.Forms{}, err
	}
	rest := in.Rest
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

// appendBare appends record forms: how many bytes they have, and a block with their code.
func appendBare(dst, b []byte) []byte {
	c := rc.EncodeTo(nil)
	codeBytes(c, b)
	return parse.AppendBlock(binary.AppendUvarint(dst, uint64(len(b))), c.Enc.Finish())
}

// takeBare is the inverse of appendBare.
func takeBare(in *parse.Cursor) ([]byte, error) {
	size, code := in.Uvarint(), in.Block()
	if in.Failed() || size > uint64(len(code)+slackBytes)*bytesPerByte {
		return nil, errForms
	}
	b, c := make([]byte, size), rc.DecodeFrom(code)
	codeBytes(c, b)
	return b, c.Dec.Err()
}

// A code is of at most bytesPerByte bytes for each of its own; a reader refuses more, which would take memory for nothing.
const (
	bytesPerByte = 1 << 15
	slackBytes   = 64
	countLimit   = 250
)

// codeBytes codes bytes, each given the one before it.
func codeBytes(c *rc.Coder, b []byte) {
	var trees [256]*rc.Tree
	before := byte(0)
	for i, v := range b {
		if trees[before] == nil {
			t := rc.NewTree(8)
			trees[before] = &t
		}
		before = byte(trees[before].Code(c, uint32(v), countLimit))
		b[i] = before
	}
}
