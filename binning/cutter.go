package binning

import (
	"bytes"
	"context"
	"io"

	"orcomgo/bins/record"
)

// chunk is a block of an input, between the source and the assigner.
type chunk struct {
	Text
	buffer   TextBuffer // has the text
	textLen  uint64
	textHash [16]byte // of Canonical text only; the assigner computes that of other text
	forms    record.Forms
	records  int
}

// cutter cuts an input into blocks. next returns the next one, whose text the caller frees. The
// last block has Last set. Waiting for memory ends with ctx.
type cutter interface {
	next(ctx context.Context, memory Assigner) (*chunk, error)
}

// minRecordText bounds the number of records of a block, to one for so many bytes of the block
// size. A record takes memory whatever its length, and this bounds it.
const minRecordText = 32

// lineCutter cuts text of four lines a record, by line ends alone.
type lineCutter struct {
	src       *source
	kind      record.Kind
	each      int // how many lines each record has, or each pair that is not to be divided
	blockSize int
	size      int    // of the memory to begin a block with
	left      []byte // text that was read and is not in a block yet
	// ahead is how many bytes at the end of left the source stored beyond what was requested. Where blocks
	// end must not depend on them.
	ahead   int
	eof     bool   // the input ends after left
	records uint64 // in the blocks so far
}

func (c *lineCutter) next(ctx context.Context, memory Assigner) (*chunk, error) {
	text, err := memory.Text(ctx, c.size)
	if err != nil {
		return nil, err
	}
	t, err := c.cut(text)
	if err != nil {
		text.Free()
	}
	return t, err
}

// textEnd says how far the text of a block has been read.
type textEnd struct {
	stored int    // bytes in the buffer
	n      int    // the first n of them are used; the source stored the others beyond what was requested
	marks  []Mark // of the first n bytes; the last one is at n, unless that is 0
}

// cut reads a block into the buffer.
func (c *lineCutter) cut(text TextBuffer) (*chunk, error) {
	e := textEnd{stored: len(c.left), n: len(c.left) - c.ahead}
	if err := c.grow(text, e.stored, 0); err != nil {
		return nil, err
	}
	for at := 0; at < e.stored; at += fillPiece {
		size := min(fillPiece, e.stored-at)
		if _, err := text.Fill(at, size, func(p []byte) (int, error) { return copy(p, c.left[at:]), nil }); err != nil {
			return nil, err
		}
	}
	e.marks = countLines(nil, c.left[:e.n], 0, 0, serial)
	target, maxLines := c.blockSize, 4*max(c.blockSize/minRecordText, 1)
	for ; ; target, maxLines = 2*target, 2*maxLines {
		if err := c.grow(text, c.src.atMost(e.stored, target), e.stored); err != nil {
			return nil, err
		}
		// Text that is left from a larger block may already exceed the target.
		for !c.ended(&e) && e.n < target && lineCount(e.marks) <= maxLines { // one more, so that text follows the block
			slack := c.src.slack()
			if e.n+slack >= text.Room() { // more text than is likely of a file of its size
				if err := c.grow(text, min(target, 2*e.n+sniffLen)+slack, e.stored); err != nil {
					return nil, err
				}
			}
			if err := c.read(text, &e, min(target, e.n+fillStep(&e, maxLines), text.Room()-slack)); err != nil {
				return nil, err
			}
		}
		w := &textWindow{text: text, n: e.n}
		end := cutAt(w, e.marks, min(target, e.n), maxLines, c.each, c.ended(&e))
		if w.err != nil {
			return nil, w.err
		}
		if end == 0 && e.n > 0 {
			continue // less than one record: read more
		}
		return c.block(w, end, &e)
	}
}

// ended reports whether the input ends with the text.
func (c *lineCutter) ended(e *textEnd) bool { return c.eof && e.n == e.stored }

// read sets e.n to end, or to the end of the input if that is before, and reads the text up to there.
func (c *lineCutter) read(text TextBuffer, e *textEnd, end int) error {
	marks := len(e.marks)
	if e.stored < end && !c.eof {
		if e.n < e.stored && text.Host(0) != nil {
			// In memory of the host, line ends are counted while the text is in the cache.
			if err := e.count(text, e.stored); err != nil {
				return err
			}
			marks = len(e.marks)
		}
		before := lineCount(e.marks)
		if e.n < e.stored {
			before = 0 // the source's marks are not used: those of the stored bytes must come first
		}
		n, m, err := c.src.fill(text, e.stored, end-e.stored, before, e.marks)
		if err != nil && err != io.EOF {
			return err
		}
		c.eof = err == io.EOF
		if e.n == e.stored {
			e.marks = m
		}
		e.stored += n
	}
	if len(e.marks) > marks {
		e.n = min(end, e.stored)
		return nil
	}
	return e.count(text, min(end, e.stored))
}

// count makes the text end at end, which is stored already, and counts the line ends up to there.
func (e *textEnd) count(text TextBuffer, end int) error {
	if e.n == end {
		return nil
	}
	counts, err := text.CountLines(e.n, end)
	if err != nil {
		return err
	}
	e.marks = appendMarks(e.marks, counts, lineCount(e.marks), e.n, end)
	e.n = end
	return nil
}

// grow makes room for n bytes and keeps the first ones.
func (c *lineCutter) grow(text TextBuffer, n, keep int) error {
	if n <= text.Room() {
		return nil
	}
	if uint64(n) > 2*maxBlockSize+1+memberSlack {
		return &RecordError{File: c.src.path, Record: c.records + 1, Expected: "a record of less than 4.29 GB", Found: "a longer one"}
	}
	return text.Grow(n, keep)
}

// block returns the first end bytes of the text as a block, and copies the text after them to c.left.
func (c *lineCutter) block(w *textWindow, end int, e *textEnd) (*chunk, error) {
	t := &chunk{textLen: uint64(end), buffer: w.text}
	t.Data, t.Last, t.Kind, t.File, t.FirstRecord = w.text.Host(end), c.ended(e) && end == e.n, c.kind, c.src.path, c.records
	if t.Data == nil {
		t.Buffer, t.Len = w.text, end
	}
	w.n = e.stored
	c.left = w.appendRest(c.left[:0], end)
	c.ahead = e.stored - e.n
	if w.err != nil {
		return nil, w.err
	}
	if !t.Last {
		t.records = (lineCount(e.marks) - bytes.Count(c.left[:e.n-end], []byte{'\n'})) / 4
		c.records += uint64(t.records)
	}
	for len(e.marks) > 0 && e.marks[len(e.marks)-1].Offset > end {
		e.marks = e.marks[:len(e.marks)-1]
	}
	t.Marks = e.marks
	return t, nil
}

// fillStep returns how many bytes are read before the number of lines is checked again: about what so many lines take. Text after them
// would be kept for the next block, which is much where records are tiny.
func fillStep(e *textEnd, maxLines int) int {
	const least, most = 1 << 20, 256 << 20
	lines := lineCount(e.marks)
	if lines == 0 {
		return most
	}
	likely := float64(e.n) / float64(lines) * float64(maxLines+1)
	return int(min(max(likely*1.01-float64(e.n), least), most))
}

func lineCount(marks []Mark) int {
	if len(marks) == 0 {
		return 0
	}
	return marks[len(marks)-1].Lines
}

func serial(n int, task func(int)) {
	for i := range n {
		task(i)
	}
}

// cutAt returns the end of the longest block of whole records, or pairs of them, which have so many lines each, within the first
// limit bytes and maxLines lines of text; 0 if there is none. The text after it does not begin with a blank line, which might
// belong to the last record's tail, unless all of the text is the block.
func cutAt(text *textWindow, marks []Mark, limit, maxLines, each int, eof bool) int {
	// The last mark before the limit that still has few enough lines.
	end, lines := 0, 0
	for _, m := range marks {
		if m.Offset > limit || m.Lines > maxLines {
			break
		}
		end, lines = m.Offset, m.Lines
	}
	for lines < maxLines && end < limit {
		next := text.nextLineEnd(end, limit)
		if next < 0 {
			break
		}
		end = next
		lines++
	}
	if eof && limit == text.n && (lines < maxLines || end == text.n) {
		return text.n
	}
	// Back to the end of the last line, then to that of the last whole record.
	end = text.lastLineEnd(end)
	for ; lines%each != 0; lines-- {
		end = text.lineBefore(end)
	}
	for end > 0 && (end == text.n || text.at(end) == '\n' || text.at(end) == '\r') {
		for range each {
			end = text.lineBefore(end)
		}
	}
	return end
}
