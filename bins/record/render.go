package record

import (
	"fmt"

	"orcomgo/bins/parse"
)

// AppendRecord appends the text of a record to dst, given its name without the mark before it,
// its sequence, its qualities (one for each base; ignored where the format has none) and its
// form. The error, ErrCorrupt, is for lines that don't add up to the sequence.
func AppendRecord(dst []byte, kind Kind, name, seq, qual []byte, l *Form) ([]byte, error) {
	dst, ok := formats[kind].appendRecord(dst, name, seq, qual, l)
	if !ok {
		return dst, fmt.Errorf("%w: the lines of a record don't add up", parse.ErrCorrupt)
	}
	if l.NoNewline {
		dst = dst[:len(dst)-1]
	}
	return append(dst, l.Tail...), nil
}

func appendLineEnd(dst []byte, cr bool) []byte {
	if cr {
		dst = append(dst, '\r')
	}
	return append(dst, '\n')
}

// appendLines appends text cut into lines; see Form.
func appendLines(dst, text []byte, cr bool, width uint32, lines []uint32) ([]byte, bool) {
	switch {
	case lines != nil:
		for _, n := range lines {
			if uint64(n>>1) > uint64(len(text)) {
				return dst, false
			}
			dst = appendLineEnd(append(dst, text[:n>>1]...), n&1 != 0)
			text = text[n>>1:]
		}
		return dst, len(text) == 0
	case width != 0:
		for len(text) > 0 {
			n := int(min(uint64(width), uint64(len(text))))
			dst = appendLineEnd(append(dst, text[:n]...), cr)
			text = text[n:]
		}
		return dst, true
	}
	return appendLineEnd(append(dst, text...), cr), true
}
