package record

var fasta = Format{Name: "FASTA", Mark: '>', Exts: []string{".fasta", ".fa", ".fna"}, appendRecord: appendFASTA}

func appendFASTA(dst, name, seq, _ []byte, l *Form) ([]byte, bool) {
	dst = append(append(dst, '>'), name...)
	dst = appendLineEnd(dst, l.CR&1 != 0)
	return appendLines(dst, seq, l.CR&2 != 0, l.SeqWidth, l.SeqLines)
}
