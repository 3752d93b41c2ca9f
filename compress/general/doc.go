// Package general compresses bytes of any kind: the codec of what no other codec of this project knows, and the one that all others have
// to beat.
//
// While the text before repeats earlier text, one decision a byte says whether the repeat goes on, so that long repeats, at any distance,
// cost next to nothing. Other bytes are coded bit by bit. Each decision has some adaptive probabilities, chosen by the bytes before
// or, in data of records of one length, by the bytes above; their logistic mixture is coded (Mahoney, "Adaptive weighing of context
// models for lossless data compression", 2005).
//
// A stream has no checksum: whoever keeps it compares the text, or the stream, with one of its own.
//
// docs/FORMAT.md, "General streams", is the specification.
package general

import (
	"encoding/binary"
	"errors"

	"orcomgo/bins/parse"
	"orcomgo/compress/rangecoder"
)

// Errors of Decode.
var (
	// ErrCorrupt reports a stream that is damaged or cut off.
	ErrCorrupt = errors.New("general: the stream is damaged or cut off")
	// ErrSize reports a stream of a text that is longer than allowed.
	ErrSize = errors.New("general: the text of the stream is longer than allowed")
)

// MaxSize is the most bytes of a text.
const MaxSize = 1 << 30

// A byte codes less than textPerByte bytes of text. A reader refuses a stream of more, which would take memory for nothing.
const (
	textPerByte = 1 << 16
	slackBytes  = 64
)

// A stream is twice the size of its text (uvarint), plus 1 if it is coded, and the text itself or, coded, the settings (Settings) and the
// decisions.

// Encode returns text as a stream. It panics if the text is longer than MaxSize, which is an error of the caller. It takes up to about
// 10 MB of memory.
func Encode(text []byte) []byte { return Choose(text).Encode(text) }

// Encode is Encode with settings that were chosen for the text before.
func (s Settings) Encode(text []byte) []byte {
	if len(text) > MaxSize {
		panic("general: text is too long")
	}
	size := uint64(len(text)) << 1
	if coded := s.encode(text, 0); len(coded) < len(text) {
		return append(binary.AppendUvarint(nil, size|1), coded...)
	}
	return append(binary.AppendUvarint(nil, size), text...)
}

// encode returns the code of the bytes of text from one on, given those before.
func (s Settings) encode(text []byte, from int) []byte {
	c := rangecoder.EncodeTo(binary.AppendUvarint(nil, uint64(s.stride)<<1|uint64(rangecoder.BitOf(s.least == leastBytes))))
	newModel(len(text)-from, len(text), s).code(c, text, from)
	return c.Enc.Finish()
}

// Decode is the inverse of Encode, for a text of at most limit bytes.
func Decode(stream []byte, limit int) ([]byte, error) {
	in := &parse.Cursor{Rest: stream}
	size := in.Int(2*MaxSize + 1)
	n, coded := size>>1, size&1 == 1
	switch {
	case in.Failed(), n > (len(in.Rest)+slackBytes)*textPerByte, !coded && n != len(in.Rest), coded && n == 0:
		return nil, ErrCorrupt
	case n > limit:
		return nil, ErrSize
	case !coded:
		return in.Rest, nil
	}
	v := in.Int(2*MaxStride + 1)
	s := Settings{stride: v >> 1, least: usualBytes}
	if v&1 == 1 {
		s.least = leastBytes
	}
	if in.Failed() {
		return nil, ErrCorrupt
	}
	c := rangecoder.DecodeFrom(in.Rest)
	text := make([]byte, n)
	newModel(n, n, s).code(c, text, 0)
	if c.Dec.Err() != nil {
		return nil, ErrCorrupt
	}
	return text, nil
}
