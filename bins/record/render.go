package record

import (
	"fmt"

	"orcomgo/bins/parse"
)

// AppendRecord appends the text of a record to dst: what binning took apart into its name
// (without '@' or '>'), sequence letters, qualities (of the same number; ignored for
// FASTA) and form. The error, ErrCorrupt, is for lines that don't add up to the sequence.
func AppendRecord(dst []byte, kind Kind, name, seq, qual []byte, l *Form) ([]byte, error) {
	if kind == FASTQ && l.IsDefault() {
		dst = append(append(dst, '@'), name...)
		dst = append(append(dst, '\n'), seq...)
		dst = append(append(dst, "\n+\n"...), qual...)
		return append(dst, '\n'), nil
	}
	mark := byte('@')
	if kind == FASTA {
		mark = '>'
	}
	dst = append(append(dst, mark), name...)
	dst = appendEnd(dst, l.CR&1 != 0)
	dst, ok := appendLines(dst, seq, l.CR&2 != 0, l.SeqWidth, l.SeqLines)
	if ok && kind == FASTQ {
		dst = append(dst, '+')
		switch l.Plus {
		case PlusName:
			dst = append(dst, name...)
		case PlusText:
			dst = append(dst, l.PlusText...)
		}
		dst = appendEnd(dst, l.CR&4 != 0)
		dst, ok = appendLines(dst, qual, l.CR&8 != 0, l.QualWidth, l.QualLines)
	}
	if !ok {
		return dst, fmt.Errorf("%w: the lines of a record don't add up", parse.ErrCorrupt)
	}
	if l.NoNewline {
		dst = dst[:len(dst)-1]
	}
	return append(dst, l.Tail...), nil
}

func appendEnd(dst []byte, cr bool) []byte {
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
			dst = appendEnd(append(dst, text[:n>>1]...), n&1 != 0)
			text = text[n>>1:]
		}
		return dst, len(text) == 0
	case width != 0:
		for len(text) > 0 {
			n := int(min(uint64(width), uint64(len(text))))
			dst = appendEnd(append(dst, text[:n]...), cr)
			text = text[n:]
		}
		return dst, true
	}
	return appendEnd(append(dst, text...), cr), true
}
