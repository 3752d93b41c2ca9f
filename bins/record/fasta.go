package record

var fasta = Format{Name: "FASTA", Mark: '>', Exts: []string{".fasta", ".fa", ".fna"}, appendRecord: appendFASTA}

func appendFASTA(dst, name, seq, _ []byte, l *Form) ([]byte, bool) {
	dst = append(append(dst, '>'), name...)
	dst = append(dst, lineEnd(l.CR&1 != 0)...)
	return appendText(dst, seq, l.CR&2 != 0, l.SeqWidth, l.SeqLines)
}
