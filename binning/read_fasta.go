package binning

// fasta parses the sequence of a FASTA record, which ends before a line that begins with '>'.
func (w *walker) fasta(int) *mismatch {
	for w.has(w.next) && w.text()[w.next] != '>' {
		if len(w.seqLines) > 0 {
			if end := w.blanks(w.next); end > w.next {
				if !w.has(end) || w.text()[end] == '>' {
					break // they are the record's tail
				}
				w.seqLines = w.appendBlanks(w.seqLines, end)
				continue
			}
		}
		if bad := w.sequence(); bad != nil {
			return bad
		}
		if len(w.seqLines) == 1 {
			w.evenLines()
		}
	}
	w.form.SeqWidth, w.form.SeqLines = fold(&w.seqLines, &w.form.CR, 2)
	return nil
}
