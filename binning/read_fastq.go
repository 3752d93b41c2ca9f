package binning

import (
	"bytes"
	"fmt"

	"orcomgo/bins/record"
)

// fastq parses the sequence and the qualities of a FASTQ record, whose name ends at nameEnd.
// Wrapped FASTQ is ambiguous, because a quality line may begin with '@' or '+'. The rule is:
//   - The sequence ends before the first line that begins with '+'. No sequence line can.
//   - The qualities are the lines after that one, at least one line, until there are as many
//     qualities as bases. It does not matter what these lines begin with. A line with more
//     qualities than are missing is an error.
//   - The next line that is not blank is the next record's, and begins with '@'.
func (w *walker) fastq(nameEnd int) *mismatch {
	l := &w.form
	for {
		if !w.has(w.next) || w.text()[w.next] == '@' {
			return &mismatch{"a line with '+'", w.show(w.next), false}
		}
		if w.text()[w.next] == '+' {
			break
		}
		if end := w.blanks(w.next); end > w.next {
			w.seqLines = w.appendBlanks(w.seqLines, end)
			continue
		}
		if bad := w.sequence(); bad != nil {
			return bad
		}
	}
	w.wrapped = w.wrapped || len(w.seqLines) != 1
	l.SeqWidth, l.SeqLines = fold(&w.seqLines, &l.CR, 2)

	from, end, cr := w.line()
	if cr {
		l.CR |= 4
	}
	if plus := w.text()[from+1 : end]; len(plus) > 0 {
		l.Plus = record.PlusName
		if !bytes.Equal(plus, w.text()[1:nameEnd]) {
			l.Plus, l.PlusText = record.PlusText, string(plus)
		}
	}

	want := len(w.seq)
	// Qualities before the last line, whether that begins with '@', and how many lines but the first do.
	before, head, heads := 0, false, 0
	for w.has(w.next) && (len(w.qual) < want || len(w.qualLines) == 0) {
		if end := w.blanks(w.next); want > 0 && end > w.next {
			w.qualLines = w.appendBlanks(w.qualLines, end)
			continue
		}
		before, head = len(w.qual), w.text()[w.next] == '@'
		if head && len(w.qualLines) > 0 {
			heads++
		}
		w.qual, w.qualLines = w.appendLine(w.qual, w.qualLines)
	}
	if got := len(w.qual); got != want {
		expected, found := fmt.Sprintf("%d qualities, as many as bases", want), fmt.Sprint(got)
		switch {
		case got < want:
			found += " before the end of the file"
		case head && want == 0:
			expected, found = "an empty quality line, as there are no bases", "'@'"
		case head && before > 0:
			found = fmt.Sprintf("%d before a line that begins with '@'", before)
		}
		return &mismatch{expected, found, false}
	}
	w.wrapped = w.wrapped || len(w.qualLines) > 1 && heads == 0
	l.QualWidth, l.QualLines = fold(&w.qualLines, &l.CR, 8)
	return checkContent(nil, w.qual)
}
