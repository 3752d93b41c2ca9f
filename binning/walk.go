package binning

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/digest"
)

// walker parses records whose sequences and qualities may take any number of lines: FASTA, and
// FASTQ wrapped over lines. The rules of each format are at its function in readings.
//
// Blank lines after a record, before the next one or the end of the text, are the record's
// tail. All others are lines of the sequence or of the qualities.
//
// Text is scanned once: a search for the end of a line continues where it needed more text.
type walker struct {
	in        io.Reader // the text after buf
	kind      record.Kind
	buf       []byte
	at        int   // offset in buf of the record; the text before it has been used
	next      int   // offset from at of the next line
	endedInLF bool  // the line before that ended in LF
	err       error // of in; io.EOF at its end
	later     error // of in, which fillTo has met: it is err once more text is needed
	tooLong   bool  // the record is too long

	run          bins.Runner // for long sequences; nil: they are parsed by one thread as well
	longSequence int         // how many bytes of lines are worth several threads, with run

	hash   digest.TextHasher // of the text before the record, since it was reset
	hashed int               // in buf, up to where

	// The record that was found last.
	name      []byte // part of buf
	seq, qual []byte
	textLen   int
	form      record.Form

	// Of BAM:
	header bool   // the header of the file is next
	number uint64 // of the record, for errors
	fields []byte // memory
	kept   []byte // the last memory of strings

	// wrapped is set once the text has something that wrapped FASTQ has and FASTQ of four lines
	// a record has not. From then on, errors are about wrapped FASTQ.
	wrapped bool

	seqLines, qualLines []uint32 // length << 1 | CR
}

const (
	walkStep  = 1 << 20            // least number of bytes of a read
	maxRecord = 2*maxBlockSize + 1 // bytes of text of a record
)

// text returns what has been read of the text, from the record on. It is valid until more
// is read.
func (w *walker) text() []byte { return w.buf[w.at:] }

// readMore reads on. It returns false if there is nothing more to read.
func (w *walker) readMore() bool {
	rest := len(w.buf) - w.at
	if w.err == nil {
		w.err = w.later
	}
	if w.tooLong = w.tooLong || rest > maxRecord; w.tooLong || w.err != nil {
		return false
	}
	if cap(w.buf)-len(w.buf) < walkStep {
		w.hashUsed()
		// The text is moved only if no more than the used text has to be moved; else the buffer
		// grows by half. Either way a byte is moved a few times at most.
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

// fillTo reads until there are n bytes of text from the record on, or the input ends. A buffer for n bytes is made only for a text that is
// not much shorter.
func (w *walker) fillTo(n int) {
	for rest := len(w.buf) - w.at; w.err == nil && w.later == nil && rest < n; rest = len(w.buf) - w.at {
		least := n
		if cap(w.buf) < n {
			least = min(n, max(bufferGrowth*rest, bufferGrowth*walkStep))
		}
		w.readTo(least)
	}
}

// bufferGrowth is how many times larger the buffer of a walker becomes.
const bufferGrowth = 4

// readTo does what fillTo does, in a buffer for n bytes at least.
func (w *walker) readTo(n int) {
	if cap(w.buf)-w.at < n {
		w.hashUsed()
		if rest := w.buf[w.at:]; cap(w.buf) < n {
			w.buf = w.moved(rest, n+len(rest)) // a record that grows is moved a few times at most
		} else {
			w.buf = append(w.buf[:0], rest...)
		}
		w.at, w.hashed = 0, 0
	}
	for len(w.buf)-w.at < n {
		k, err := w.in.Read(w.buf[len(w.buf) : w.at+n])
		if w.buf = w.buf[:len(w.buf)+k]; err == io.EOF {
			w.err = err
			return
		} else if err != nil {
			w.later = err
			return
		}
	}
}

// has reports whether there is a byte at an offset, which is at most the end of the text so far.
func (w *walker) has(at int) bool { return at < len(w.buf)-w.at || w.readMore() }

// hashUsed hashes the text before the record.
func (w *walker) hashUsed() {
	w.hash.Write(w.buf[w.hashed:w.at])
	w.hashed = w.at
}

// show describes the byte at an offset.
func (w *walker) show(at int) string {
	if !w.has(at) {
		return "the end of the file"
	}
	return showByte(w.text()[at])
}

// line advances by a line, and returns where it begins and ends, without its line end, and
// whether it ended in CR LF.
func (w *walker) line() (from, end int, cr bool) {
	from = w.next
	text := w.buf[w.at:]
	n := 8
	if from+8 <= len(text) {
		n = newlineIn8(text[from:]) // most lines of text with many lines are short
	}
	if n == 8 {
		n = bytes.IndexByte(text[from:], '\n')
	}
	if n >= 0 {
		end = from + n
		w.next, w.endedInLF = end+1, true
	} else {
		end, text = w.longLine(len(text))
	}
	if end > from && text[end-1] == '\r' {
		return from, end - 1, true
	}
	return from, end, false
}

// longLine is line where the text up to scan has no LF. It returns the end of the line, and the text.
func (w *walker) longLine(scan int) (end int, _ []byte) {
	for w.readMore() {
		text := w.text()
		if n := indexNewline(text[scan:]); n >= 0 {
			w.next, w.endedInLF = scan+n+1, true
			return scan + n, text
		}
		scan = len(text)
	}
	w.next, w.endedInLF = scan, false
	return scan, w.text()
}

// appendLine advances by a line, and appends its text to dst and its length << 1 | CR to lines.
func (w *walker) appendLine(dst []byte, lines []uint32) ([]byte, []uint32) {
	from, end, cr := w.line()
	n := uint32(end-from) << 1
	if cr {
		n |= 1
	}
	if len(lines) == cap(lines) {
		lines = slices.Grow(lines, max(16, len(lines)))
	}
	if line := end - from; cap(dst)-len(dst) < line {
		dst = slices.Grow(dst, max(line, len(dst))) // append would move a long sequence more often
	}
	return append(dst, w.text()[from:end]...), append(lines, n)
}

// blanks returns the end of the blank lines at an offset.
func (w *walker) blanks(at int) int {
	if text := w.buf[w.at:]; at < len(text) && text[at] > '\r' {
		return at
	}
	return w.someBlanks(at)
}

// someBlanks is blanks where the first byte may begin a blank line.
func (w *walker) someBlanks(at int) int {
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

// appendBlanks advances to the line at end, and appends the lines before it, which are blank, to
// lines.
func (w *walker) appendBlanks(lines []uint32, end int) []uint32 {
	text := w.text()[w.next:end]
	w.next, w.endedInLF = end, true
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

// record parses the next record. The mismatch says what is wrong with it; the error is that of
// reading, io.EOF after the last record.
func (w *walker) record() (*mismatch, error) {
	w.at += w.textLen
	w.textLen, w.next = 0, 0
	if !w.has(0) && !w.tooLong {
		return nil, w.err
	}
	if w.kind == record.BAM {
		err := w.bam()
		if err == nil && w.textLen > maxRecord || w.tooLong {
			return &mismatch{"a record of less than 4.29 GB", "a longer one", false}, nil
		}
		return nil, err
	}
	bad := w.parse()
	switch {
	case w.err != nil && w.err != io.EOF:
		return nil, w.err
	case w.tooLong:
		bad = &mismatch{"a record of less than 4.29 GB", "a longer one", false}
	}
	return bad, nil
}

func (w *walker) parse() *mismatch {
	mark := w.kind.Format().Mark
	if w.text()[0] != mark {
		return &mismatch{fmt.Sprintf("'%c'", mark), w.show(0), false}
	}
	w.form, w.seq, w.qual, w.seqLines, w.qualLines = record.Form{}, w.seq[:0], w.qual[:0], w.seqLines[:0], w.qualLines[:0]
	_, nameEnd, cr := w.line()
	if cr {
		w.form.CR |= 1
	}
	if bad := readings[w.kind].walk(w, nameEnd); bad != nil {
		return bad
	}
	w.form.NoNewline = !w.endedInLF
	if w.textLen = w.blanks(w.next); w.textLen > w.next {
		w.wrapped = w.wrapped || w.has(w.textLen)
		w.form.Tail = string(w.text()[w.next:w.textLen])
	}
	w.name = w.text()[1:nameEnd]
	return nil
}

// sequence parses a line of the sequence. Its letters are checked at once, because text that is
// no sequence may be very long.
func (w *walker) sequence() *mismatch {
	n := len(w.seq)
	w.seq, w.seqLines = w.appendLine(w.seq, w.seqLines)
	return checkContent(w.seq[n:], nil)
}

// fold is foldLines, but the list belongs to the form: it is a copy, or, if it is long, the
// walker's list, which then begins a new one.
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
