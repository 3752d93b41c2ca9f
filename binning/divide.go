package binning

import (
	"bytes"

	"orcomgo/bins"
)

// divide cuts the text into segments that begin with a record. It counts lines if t.Marks is nil.
func (j *job) divide() {
	text, marks := j.Data, j.Marks
	if marks == nil {
		marks = countLines(nil, text, 0, 0, j.run)
	}
	// A block that is not the last ends with a record. In the last, blank lines may follow it.
	j.recordsEnd = len(text)
	tail := j.recordsEnd
	if j.Last {
		tail = blankTail(text)
	}
	// The line ends before tail, from the last mark before it.
	m := len(marks)
	for m > 0 && marks[m-1].Offset > tail {
		m--
	}
	from, lines := 0, 0
	if m > 0 {
		from, lines = marks[m-1].Offset, marks[m-1].Lines
	}
	lines += bytes.Count(text[from:tail], []byte{'\n'})
	at := tail
	for lines%4 != 0 && at < len(text) {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			at = len(text)
			break
		}
		at += n + 1
		lines++
	}
	j.recordsEnd = at
	if at > 0 && text[at-1] != '\n' {
		lines++
	}
	j.b.Records = (lines + 3) / 4

	j.segments = resize(j.segments, 0)
	next := 0 // records before this ordinal have a segment
	for i := 0; i <= m; i++ {
		var mark Mark
		if i > 0 {
			mark = marks[i-1]
		}
		first := 0
		if mark.Offset > 0 {
			first = mark.Lines / 4
			if mark.Lines%4 != 0 || text[mark.Offset-1] != '\n' {
				first++
			}
		}
		if first >= j.b.Records && i > 0 {
			break
		}
		if i > 0 && first == next {
			continue // the record before contains the mark
		}
		start := mark.Offset
		for skip := 4*first - mark.Lines; skip > 0; skip-- {
			start += bytes.IndexByte(text[start:], '\n') + 1
		}
		if n := len(j.segments); n > 0 {
			j.segments[n-1].end = first
		}
		// The memory of exceptions and gaps is used again.
		if cap(j.segments) > len(j.segments) {
			j.segments = j.segments[:len(j.segments)+1]
		} else {
			j.segments = append(j.segments, segment{})
		}
		s := &j.segments[len(j.segments)-1]
		*s = segment{start: start, first: first, exceptions: s.exceptions, ofRead: s.ofRead, gaps: s.gaps, long: s.long}
		s.exceptions.Reset()
		next = first
	}
	j.segments[len(j.segments)-1].end = j.b.Records
}

// recordsEnd returns the end of the last record of a text that ends its input; blank lines follow.
func recordsEnd(text []byte) int {
	end := blankTail(text)
	for lines := bytes.Count(text[:end], []byte{'\n'}); lines%4 != 0 && end < len(text); lines++ {
		end += bytes.IndexByte(text[end:], '\n') + 1
	}
	return end
}

// countLines appends a mark for each fillPiece bytes of text. The text begins at offset, after the
// given number of lines.
func countLines(marks []Mark, text []byte, offset, lines int, run bins.Runner) []Mark {
	n := (len(text) + fillPiece - 1) / fillPiece
	counts := make([]int, n)
	run(n, func(i int) {
		counts[i] = bytes.Count(text[i*fillPiece:min((i+1)*fillPiece, len(text))], []byte{'\n'})
	})
	return appendMarks(marks, counts, lines, offset, offset+len(text))
}

// appendMarks appends a mark for each fillPiece bytes from..to-1, which have so many line ends each;
// lines is how many there are before.
func appendMarks(marks []Mark, counts []int, lines, from, to int) []Mark {
	for i, c := range counts {
		lines += c
		marks = append(marks, Mark{min(from+(i+1)*fillPiece, to), lines})
	}
	return marks
}
