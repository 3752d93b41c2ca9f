package tables

import (
	"bytes"
	"slices"

	"orcomgo/bins/parse"
)

// A file is cut into lines. Runs of lines with the same number of fields are tables; other lines, and the parts of lines that no
// column holds, are loose text.

// delimiters are those that are tried.
var delimiters = []byte{'\t', ',', ';', ' '}

const (
	minRows    = 8    // of a table
	maxColumns = 4096 // of a table
	maxSkip    = 3    // lines of another number of fields within a table
)

// cutField returns the first field of a line, what follows its delimiter, and whether there is one.
func cutField(line []byte, delimiter byte) (field, rest []byte, more bool) {
	if end := bytes.IndexByte(line, delimiter); end >= 0 {
		return line[:end], line[end+1:], true
	}
	return line, nil, false
}

// segment is the lines of a file that have one number of fields.
type segment struct {
	columns int
	rows    [][]byte // lines without their ends
}

// layout is a file cut into tables and loose lines.
type layout struct {
	delimiter byte
	crlf      bool // rows end with \r\n, otherwise with \n
	segments  []*segment
	// kinds has for each line of the file the number of its segment plus 1, or 0 if it is loose.
	kinds []int64
	loose []byte // the loose lines with their ends
}

// trimEnd returns a line without its end, and whether it has the end that rows have.
func (l *layout) trimEnd(line []byte) ([]byte, bool) {
	if l.crlf {
		return bytes.CutSuffix(line, []byte("\r\n"))
	}
	line, ok := bytes.CutSuffix(line, []byte("\n"))
	return line, ok && !bytes.HasSuffix(line, []byte("\r"))
}

// cut cuts text into tables by the delimiter that puts the most bytes into tables of two columns or more.
func cut(text []byte) *layout {
	lines := slices.Collect(bytes.Lines(text))
	crlf := bytes.Count(text, []byte("\r\n"))*2 > len(lines)
	var chosen *layout
	most := -1
	for _, d := range delimiters {
		if bytes.IndexByte(text, d) < 0 {
			continue
		}
		l := &layout{delimiter: d, crlf: crlf}
		if n := l.find(lines); n > most+len(text)/20 {
			chosen, most = l, n
		}
	}
	if chosen == nil {
		chosen = &layout{delimiter: '\t', crlf: crlf}
		chosen.find(lines)
	}
	return chosen
}

// find cuts lines into segments and returns how many fields these have beyond the first one of a row.
func (l *layout) find(lines [][]byte) int {
	counts := make([]int, len(lines))
	for i, line := range lines {
		if body, ok := l.trimEnd(line); ok && bytes.IndexByte(body, '\r') < 0 {
			counts[i] = bytes.Count(body, []byte{l.delimiter}) + 1
		}
	}
	l.kinds = make([]int64, len(lines))
	covered := 0
	for i := 0; i < len(lines); {
		n := counts[i]
		last, rows := i, 0 // of the run of lines with n fields, with few others between
		for j := i; j < len(lines) && j-last <= maxSkip && n > 1 && n <= maxColumns; j++ {
			if counts[j] == n {
				last = j
				rows++
			}
		}
		if rows < minRows {
			l.loose = append(l.loose, lines[i]...)
			i++
			continue
		}
		s := l.segmentOf(n)
		var header []byte // it may occur again: where another file begins
		if l.isHeader(lines[i], lines[last]) {
			header = lines[i]
		}
		for ; i <= last; i++ {
			if counts[i] != n || header != nil && bytes.Equal(lines[i], header) {
				l.loose = append(l.loose, lines[i]...)
				continue
			}
			body, _ := l.trimEnd(lines[i])
			l.segments[s].rows = append(l.segments[s].rows, body)
			l.kinds[i] = int64(s) + 1
			covered += len(body)
		}
	}
	return covered
}

// types returns for each field of a line whether it is a number.
func (l *layout) types(line []byte) (list []byte) {
	line = bytes.TrimRight(line, "\r\n")
	for more := true; more; {
		var field []byte
		field, line, more = cutField(line, l.delimiter)
		_, ok := parseDecimal(field)
		list = append(list, parse.Flags(ok))
	}
	return list
}

// isHeader reports whether a line lacks a number where another one, of as many fields, has one.
func (l *layout) isHeader(line, other []byte) bool {
	types := l.types(line)
	for i, number := range l.types(other) {
		if types[i] < number {
			return true
		}
	}
	return false
}

// segmentOf returns the number of the segment for a run of lines with n fields: that of the runs before if it has as many.
func (l *layout) segmentOf(n int) int {
	for i, s := range l.segments {
		if s.columns == n {
			return i
		}
	}
	l.segments = append(l.segments, &segment{columns: n})
	return len(l.segments) - 1
}

// join is the inverse of cut. row appends a row of one of so many segments.
func (l *layout) join(segments int, row func(dst []byte, segment, r int) ([]byte, error), size int) ([]byte, error) {
	loose := slices.Collect(bytes.Lines(l.loose))
	at := make([]int, segments)
	end := "\n"
	if l.crlf {
		end = "\r\n"
	}
	text := make([]byte, 0, size)
	var err error
	for _, k := range l.kinds {
		if k == 0 {
			if len(loose) == 0 {
				return nil, ErrCorrupt
			}
			text = append(text, loose[0]...)
			loose = loose[1:]
			continue
		}
		if text, err = row(text, int(k-1), at[k-1]); err != nil {
			return nil, err
		}
		at[k-1]++
		text = append(text, end...)
		if len(text) > size {
			return nil, ErrCorrupt
		}
	}
	if len(loose) > 0 {
		return nil, ErrCorrupt
	}
	return text, nil
}

// Kind reports whether more than half of text is rows of tables of several columns, so that it is worth the time to code it as tables. It
// returns what texts have in common that may be parts of one table: the delimiter, and which columns of the largest table have a number in
// its last row.
func Kind(text []byte) (kind string, ok bool) {
	l := cut(text)
	rows, most := 0, 0
	var last []byte
	for _, s := range l.segments {
		n := 0
		for _, row := range s.rows {
			n += len(row)
		}
		if rows += n; n > most {
			most, last = n, s.rows[len(s.rows)-1]
		}
	}
	if rows <= len(text)/2 {
		return "", false
	}
	return string(append(l.types(last), l.delimiter)), true
}
