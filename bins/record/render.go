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
		return dst, errLines
	}
	return l.appendEnd(dst), nil
}

// AppendFASTA appends the text of a FASTA record of n letters to dst, as AppendRecord does. lines appends letters from..to-1 in lines of
// width letters, the last of which may be shorter, and after each line its end; there is at least one letter.
func AppendFASTA(dst, name []byte, n int, l *Form, lines func(dst []byte, from, to, width int, end string) []byte) ([]byte, error) {
	lineEnd := func(cr bool) string {
		if cr {
			return "\r\n"
		}
		return "\n"
	}
	dst = append(append(append(dst, '>'), name...), lineEnd(l.CR&1 != 0)...)
	end := lineEnd(l.CR&2 != 0)
	switch {
	case l.SeqLines != nil:
		at := 0
		for _, line := range l.SeqLines {
			size := int(line >> 1)
			if size > n-at {
				return dst, errLines
			}
			if end := lineEnd(line&1 != 0); size > 0 {
				dst = lines(dst, at, at+size, size, end)
			} else {
				dst = append(dst, end...)
			}
			at += size
		}
		if at < n {
			return dst, errLines
		}
	case n == 0 && l.SeqWidth == 0:
		dst = append(dst, end...)
	case n > 0:
		width := n
		if l.SeqWidth > 0 {
			width = int(min(uint64(l.SeqWidth), uint64(n)))
		}
		dst = lines(dst, 0, n, width, end)
	}
	return l.appendEnd(dst), nil
}

var errLines = fmt.Errorf("%w: the lines of a record don't add up", parse.ErrCorrupt)

// appendEnd appends to the text of a record what follows its lines.
func (l *Form) appendEnd(dst []byte) []byte {
	if l.NoNewline {
		dst = dst[:len(dst)-1]
	}
	return append(dst, l.Tail...)
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
