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

// AppendFASTA appends the text of a FASTA record of n letters to dst, as AppendRecord does; put appends letters.
func AppendFASTA(dst, name []byte, n int, l *Form, put PutLines) ([]byte, error) {
	dst = append(append(append(dst, '>'), name...), lineEnd(l.CR&1 != 0)...)
	dst, ok := appendLines(dst, n, l.CR&2 != 0, l.SeqWidth, l.SeqLines, put)
	if !ok {
		return dst, errLines
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

func lineEnd(cr bool) string {
	if cr {
		return "\r\n"
	}
	return "\n"
}

// PutLines appends letters from..to-1 of a record, at least one, in lines of width letters, the last of which may be shorter, and after
// each line its end.
type PutLines = func(dst []byte, from, to, width int, end string) []byte

// appendLines appends n letters cut into lines; see Form.
func appendLines(dst []byte, n int, cr bool, width uint32, lines []uint32, put PutLines) ([]byte, bool) {
	switch {
	case lines != nil:
		at := 0
		for _, line := range lines {
			size := int(line >> 1)
			if size > n-at {
				return dst, false
			}
			if end := lineEnd(line&1 != 0); size > 0 {
				dst = put(dst, at, at+size, size, end)
			} else {
				dst = append(dst, end...)
			}
			at += size
		}
		return dst, at == n
	case n > 0 && width > 0:
		return put(dst, 0, n, int(min(uint64(width), uint64(n))), lineEnd(cr)), true
	case n > 0:
		return put(dst, 0, n, n, lineEnd(cr)), true
	case width == 0:
		dst = append(dst, lineEnd(cr)...)
	}
	return dst, true
}

// appendText appends text cut into lines.
func appendText(dst, text []byte, cr bool, width uint32, lines []uint32) ([]byte, bool) {
	return appendLines(dst, len(text), cr, width, lines, func(dst []byte, from, to, width int, end string) []byte {
		for ; from < to; from += width {
			dst = append(append(dst, text[from:min(from+width, to)]...), end...)
		}
		return dst
	})
}
