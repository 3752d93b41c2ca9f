package record

var fastq = Format{Name: "FASTQ", Mark: '@', Quals: true, Exts: []string{".fastq", ".fq"}, appendRecord: appendFASTQ}

func appendFASTQ(dst, name, seq, qual []byte, l *Form) ([]byte, bool) {
	dst = append(append(dst, '@'), name...)
	if l.IsDefault() {
		dst = append(append(dst, '\n'), seq...)
		dst = append(append(dst, "\n+\n"...), qual...)
		return append(dst, '\n'), true
	}
	dst = append(dst, lineEnd(l.CR&1 != 0)...)
	dst, ok := appendText(dst, seq, l.CR&2 != 0, l.SeqWidth, l.SeqLines)
	if !ok {
		return dst, false
	}
	dst = append(dst, '+')
	switch l.Plus {
	case PlusName:
		dst = append(dst, name...)
	case PlusText:
		dst = append(dst, l.PlusText...)
	}
	dst = append(dst, lineEnd(l.CR&4 != 0)...)
	return appendText(dst, qual, l.CR&8 != 0, l.QualWidth, l.QualLines)
}
