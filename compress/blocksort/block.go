package blocksort

import (
	"encoding/binary"

	"orcomgo/bins/parse"
	"orcomgo/compress/bwt"
	"orcomgo/compress/rangecoder"
)

// A stream is twice the size of its text (uvarint), plus 1 if it is coded, and the text itself or, coded:
//
//	starting points of the transform    uvarints, as many as bwt.Starts of the size
//	bytes of the tree                   uvarint
//	the tree
//	the symbols of the transform        to the end

// A byte codes less than symbolsPerByte symbols. A reader refuses a stream of more, which would take memory for nothing.
const (
	symbolsPerByte = 1 << 16
	slackBytes     = 64
)

// Encode returns text as a stream. It panics if the text is longer than MaxSize, which is an error of the caller. A text of more than a few
// kilobytes has about 12 times its own memory in use while it is transformed, and 2 times and 5 MB of models while it is coded.
func Encode(text []byte) []byte {
	if len(text) > MaxSize {
		panic("blocksort: text is too long")
	}
	size := uint64(len(text)) << 1
	if stream := appendCoded(binary.AppendUvarint(nil, size|1), text); stream != nil {
		return stream
	}
	return append(binary.AppendUvarint(nil, size), text...)
}

// appendCoded appends the code of text to stream, which has its size; it returns nil if that would not be smaller than the text.
func appendCoded(stream, text []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	transformed := make([]byte, len(text))
	starts, err := bwt.Transform(transformed, text, 1)
	if err != nil {
		panic(err) // MaxSize is less than bwt.MaxLen
	}
	head := len(stream)
	for _, s := range starts {
		stream = binary.AppendUvarint(stream, uint64(s))
	}
	var counts [256]int
	for _, s := range transformed {
		counts[s]++
	}
	t := newTree(&counts)
	c := rangecoder.EncodeTo(nil)
	t.transmit(c)
	table := c.Enc.Finish()
	stream = binary.AppendUvarint(stream, uint64(len(table)))
	stream = append(stream, table...)
	c = rangecoder.EncodeTo(stream)
	newModel(t, len(transformed)).code(c, transformed)
	if stream = c.Enc.Finish(); len(stream)-head >= len(text) {
		return nil
	}
	return stream
}

// Decode is the inverse of Encode, for a text of at most limit bytes.
func Decode(stream []byte, limit int) ([]byte, error) {
	in := &parse.Cursor{Rest: stream}
	size := in.Int(2*MaxSize + 1)
	n, coded := size>>1, size&1 == 1
	switch {
	case in.Failed(), n > (len(in.Rest)+slackBytes)*symbolsPerByte, !coded && n != len(in.Rest), coded && n == 0:
		return nil, ErrCorrupt
	case n > limit:
		return nil, ErrSize
	case !coded:
		return in.Rest, nil
	}
	starts := make([]uint32, bwt.Starts(n))
	for i := range starts {
		starts[i] = uint32(in.Int(n - 1))
	}
	table := in.Block()
	if in.Failed() {
		return nil, ErrCorrupt
	}
	t := &tree{}
	c := rangecoder.DecodeFrom(table)
	if !t.transmit(c) || c.Dec.Err() != nil {
		return nil, ErrCorrupt
	}
	transformed := make([]byte, n)
	c = rangecoder.DecodeFrom(in.Rest)
	newModel(t, n).code(c, transformed)
	if c.Dec.Err() != nil || c.Dec.Left() > 0 {
		return nil, ErrCorrupt
	}
	text := make([]byte, n)
	if bwt.Inverse(text, transformed, starts) != nil {
		return nil, ErrCorrupt
	}
	return text, nil
}
