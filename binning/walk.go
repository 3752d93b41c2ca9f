package binning

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"orcomgo/bins/record"

	"github.com/zeebo/xxh3"
)

// walker takes records off a text whose sequences and qualities may take any number of
// lines: FASTA, and FASTQ wrapped over lines.
//
// A FASTA record ends before a line that begins with '>'.
//
// Wrapped FASTQ is ambiguous, because a quality line may begin with '@' or '+'. The rule is:
//   - The sequence ends before the first line that begins with '+'. No sequence line can.
//   - From there on letters are counted. The qualities are the lines that follow, one at
//     least, until there are as many qualities as bases. It does not matter what these
//     lines begin with. A line that brings more qualities than there are bases is an error.
//   - The next line that is not blank is the next record's, and begins with '@'.
//
// Blank lines behind a record, before the next one or the end of the text, are the record's
// tail. All others are lines of the sequence or of the qualities.
//
// A record is read once: a search for the end of a line goes on where more text was needed.
type walker struct {
	in   io.Reader // the text behind buf
	kind record.Kind
	buf  []byte
	at   int   // in buf, where the record begins; what is before has been used
	next int   // behind at, where the next line begins
	lf   bool  // the line before that ended in LF
	err  error // of in; io.EOF at its end
	long bool  // the record is too long

	hash   xxh3.Hasher // of the text before the record, since it was reset
	hashed int         // in buf, up to where

	// The record that was found last.
	name      []byte // part of buf
	seq, qual []byte
	textLen   int
	form      record.Form

	// wrapped is set once the text has something that FASTQ of four lines a record does not
	// have and wrapped FASTQ does. From then on what the wrapped reading finds wrong is
	// what the user should know.
	wrapped bool

	seqLines, qualLines []uint32 // length << 1 | CR
}

const (
	walkStep  = 1 << 20            // text is read in so many bytes at least
	maxRecord = 2*maxBlockSize + 1 // bytes of text of a record
)

// text returns what has been read of the text, from the record on. It is valid until more
// is read.
func (w *walker) text() []byte { return w.buf[w.at:] }

// more reads on. It returns false if there is nothing more to read.
func (w *walker) more() bool {
	rest := len(w.buf) - w.at
	if w.long = w.long || rest > maxRecord; w.long || w.err != nil {
		return false
	}
	if cap(w.buf)-len(w.buf) < walkStep {
		w.feed()
		// Moving the text costs no more than reading what has been used did, or the memory
		// grows by half: either way a byte is moved a few times at most.
		to := w.buf[:0]
		if w.at < rest/2 || cap(to)-rest < walkStep {
			to = make([]byte, 0, rest+max(walkStep, rest/2))
		}
		w.buf = append(to, w.buf[w.at:]...)
		w.at, w.hashed = 0, 0
	}
	for w.err == nil {
		var n int
		n, w.err = w.in.Read(w.buf[len(w.buf):cap(w.buf)])
		if w.buf = w.buf[:len(w.buf)+n]; n > 0 {
			return true
		}
	}
	return false
}

// has reports whether the text goes on at an offset up to its end so far.
func (w *walker) has(at int) bool { return at < len(w.buf)-w.at || w.more() }

// feed hashes the text before the record.
func (w *walker) feed() {
	w.hash.Write(w.buf[w.hashed:w.at])
	w.hashed = w.at
}

// sum returns the hash of the text before the record.
func (w *walker) sum() [16]byte {
	w.feed()
	return w.hash.Sum128().Bytes()
}

// show describes the byte at an offset.
func (w *walker) show(at int) string {
	if !w.has(at) {
		return "the end of the file"
	}
	return showByte(w.text()[at])
}

// line goes to the next line, and returns where this one begins and ends, without its line
// end, and whether it ended in CR LF.
func (w *walker) line() (from, end int, cr bool) {
	from = w.next
	for scan := from; ; {
		text := w.text()
		if n := bytes.IndexByte(text[scan:], '\n'); n >= 0 {
			end, w.next, w.lf = scan+n, scan+n+1, true
			break
		}
		if scan = len(text); !w.more() {
			end, w.next, w.lf = scan, scan, false
			break
		}
	}
	if end > from && w.buf[w.at+end-1] == '\r' {
		return from, end - 1, true
	}
	return from, end, false
}

// appendLine goes to the next line and appends this one to dst, and to lines how long it is
// (length << 1 | CR).
func (w *walker) appendLine(dst []byte, lines []uint32) ([]byte, []uint32) {
	from, end, cr := w.line()
	n := uint32(end-from) << 1
	if cr {
		n |= 1
	}
	if len(lines) == cap(lines) {
		lines = slices.Grow(lines, max(16, len(lines)))
	}
	return append(dst, w.text()[from:end]...), append(lines, n)
}

// blanks returns where the blank lines at an offset end.
func (w *walker) blanks(at int) int {
	for w.has(at) {
		text := w.text()
		for at < len(text) && text[at] == '\n' {
			at++
		}
		if at == len(text) {
			continue
		}
		if text[at] != '\r' || !w.has(at+1) || w.text()[at+1] != '\n' {
			break
		}
		at += 2
	}
	return at
}

// appendBlanks goes to the line that begins at end, and appends the lines before it, which
// are blank, to lines.
func (w *walker) appendBlanks(lines []uint32, end int) []uint32 {
	text := w.text()[w.next:end]
	w.next, w.lf = end, true
	lines = slices.Grow(lines, bytes.Count(text, []byte{'\n'}))
	for i := 0; i < len(text); i++ {
		cr := uint32(0)
		if text[i] == '\r' {
			cr = 1
			i++
		}
		lines = append(lines, cr)
	}
	return lines
}

// record finds the next record. The shape says what is wrong with it; the error is that of
// reading, io.EOF behind the last record.
func (w *walker) record() (*shape, error) {
	w.at += w.textLen
	w.textLen, w.next = 0, 0
	if !w.has(0) && !w.long {
		return nil, w.err
	}
	bad := w.parse()
	switch {
	case w.err != nil && w.err != io.EOF:
		return nil, w.err
	case w.long:
		bad = &shape{"a record of less than 4 GiB", "a longer one", false}
	}
	return bad, nil
}

func (w *walker) parse() *shape {
	mark := byte('@')
	if w.kind == record.FASTA {
		mark = '>'
	}
	if w.text()[0] != mark {
		return &shape{fmt.Sprintf("'%c'", mark), w.show(0), false}
	}
	w.form, w.seq, w.qual, w.seqLines, w.qualLines = record.Form{}, w.seq[:0], w.qual[:0], w.seqLines[:0], w.qualLines[:0]
	_, nameEnd, cr := w.line()
	if cr {
		w.form.CR |= 1
	}
	var bad *shape
	if w.kind == record.FASTA {
		bad = w.fasta()
	} else {
		bad = w.fastq(nameEnd)
	}
	if bad != nil {
		return bad
	}
	w.form.NoNewline = !w.lf
	w.textLen = w.blanks(w.next)
	w.wrapped = w.wrapped || w.textLen > w.next && w.has(w.textLen)
	w.form.Tail = string(w.text()[w.next:w.textLen])
	w.name = w.text()[1:nameEnd]
	return nil
}

// sequence takes a line of the sequence. Its letters are checked at once, because what is
// no sequence at all may go on without end.
func (w *walker) sequence() *shape {
	n := len(w.seq)
	w.seq, w.seqLines = w.appendLine(w.seq, w.seqLines)
	return checkContent(w.seq[n:], nil)
}

func (w *walker) fasta() *shape {
	for w.has(w.next) && w.text()[w.next] != '>' {
		if len(w.seqLines) > 0 {
			if end := w.blanks(w.next); end > w.next {
				if !w.has(end) || w.text()[end] == '>' {
					break // they are its tail
				}
				w.seqLines = w.appendBlanks(w.seqLines, end)
				continue
			}
		}
		if bad := w.sequence(); bad != nil {
			return bad
		}
	}
	w.form.SeqWidth, w.form.SeqLines = fold(&w.seqLines, &w.form.CR, 2)
	return nil
}

func (w *walker) fastq(nameEnd int) *shape {
	l := &w.form
	for {
		if !w.has(w.next) || w.text()[w.next] == '@' {
			return &shape{"a line with '+'", w.show(w.next), false}
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
	before, head, heads := 0, false, 0 // qualities before the last line, and whether that may be another record's first
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
		return &shape{expected, found, false}
	}
	w.wrapped = w.wrapped || len(w.qualLines) > 1 && heads == 0
	l.QualWidth, l.QualLines = fold(&w.qualLines, &l.CR, 8)
	return checkContent(nil, w.qual)
}

// fold is foldLines with a list that is the form's own: a copy, or if it is long the
// walker's, which then begins a new one.
func fold(lines *[]uint32, cr *uint8, bit uint8) (width uint32, own []uint32) {
	width, own = foldLines(*lines, cr, bit)
	switch {
	case own == nil:
	case len(own) < 1<<16 || len(own) < cap(own)/2:
		own = append(make([]uint32, 0, len(own)), own...)
	default:
		*lines = nil
	}
	return width, own
}
