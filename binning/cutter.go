package binning

import (
	"io"

	"orcomgo/bins/record"
)

// chunk is one block of an input on its way from the source to the assigner.
type chunk struct {
	Text
	buffer   TextBuffer // has the text
	textLen  uint64
	textHash [16]byte // of Canonical text only; the pipeline computes that of other text
	forms    record.Forms
	records  int
}

// cutter cuts an input into blocks. next returns the next one, whose text the caller frees. The
// last block has Last set.
type cutter interface {
	next(memory textMemory) (*chunk, error)
	close()
}

// textMemory has memory for texts; an Assigner does.
type textMemory interface {
	Text(n int) (TextBuffer, error)
}

// minRecordText bounds the number of records of a block, to one for so many bytes of the block
// size. A record takes memory whatever its length, and this bounds it.
const minRecordText = 32

// lineCutter cuts text of four lines a record, by line ends alone.
type lineCutter struct {
	src       *source
	kind      record.Kind
	blockSize int
	size      int    // of the memory to begin a block with
	left      []byte // text that was read and is not in a block yet
	eof       bool
	records   uint64
}

func (c *lineCutter) close() { c.src.close() }

func (c *lineCutter) next(memory textMemory) (*chunk, error) {
	text, err := memory.Text(c.size)
	if err != nil {
		return nil, err
	}
	t, err := c.cut(text)
	if err != nil {
		text.Free()
		return nil, err
	}
	return t, nil
}

func (c *lineCutter) cut(text TextBuffer) (*chunk, error) {
	n := len(c.left)
	if err := c.grow(text, n, 0); err != nil {
		return nil, err
	}
	for at := 0; at < n; at += fillPiece {
		size := min(fillPiece, n-at)
		if _, err := text.Fill(at, size, func(p []byte) (int, error) { return copy(p, c.left[at:]), nil }); err != nil {
			return nil, err
		}
	}
	marks := countLines(nil, c.left, 0, 0, serial)
	target, maxLines := c.blockSize, 4*max(c.blockSize/minRecordText, 1)
	for ; ; target, maxLines = 2*target, 2*maxLines {
		if err := c.grow(text, c.src.atMost(n, target), n); err != nil {
			return nil, err
		}
		// Text that is left from a larger block may already exceed the target.
		for !c.eof && n < target && lineCount(marks) < maxLines {
			end := min(target, n+fillStep, text.Room())
			k, m, err := c.src.fill(text, n, end-n, lineCount(marks), marks)
			marks = m
			n += k
			if err == io.EOF {
				c.eof = true
			} else if err != nil {
				return nil, err
			}
		}
		w := &textWindow{text: text, n: n}
		end := cutAt(w, marks, min(target, n), maxLines, c.eof)
		if w.err != nil {
			return nil, w.err
		}
		if end == 0 && n > 0 {
			continue // less than one record: read more
		}
		return c.block(w, end, marks)
	}
}

// grow makes room for n bytes, of which the first keep are there.
func (c *lineCutter) grow(text TextBuffer, n, keep int) error {
	if n <= text.Room() {
		return nil
	}
	if uint64(n) > 2*maxBlockSize+1 {
		return &RecordError{File: c.src.path, Record: c.records + 1, Expected: "a record of less than 4 GiB", Found: "a longer one"}
	}
	return text.Grow(n, keep)
}

// block returns the block that ends at end, and keeps the text after it for the next one.
func (c *lineCutter) block(w *textWindow, end int, marks []Mark) (*chunk, error) {
	t := &chunk{textLen: uint64(end), buffer: w.text}
	t.Data, t.Last, t.Kind, t.File, t.FirstRecord = w.text.Host(end), c.eof && end == w.n, c.kind, c.src.path, c.records
	if t.Data == nil {
		t.Buffer, t.Len = w.text, end
	}
	c.left = c.left[:0]
	for at := end; at < w.n; {
		w.load(at)
		if w.err != nil {
			return nil, w.err
		}
		c.left = append(c.left, w.p[at-w.from:]...)
		at = w.from + len(w.p)
	}
	for len(marks) > 0 && marks[len(marks)-1].Offset > end {
		marks = marks[:len(marks)-1]
	}
	t.Marks = marks
	if !t.Last {
		lines, from := 0, 0
		if n := len(marks); n > 0 {
			lines, from = marks[n-1].Lines, marks[n-1].Offset
		}
		for at := w.nextLineEnd(from, end); at >= 0; at = w.nextLineEnd(at, end) {
			lines++
		}
		if w.err != nil {
			return nil, w.err
		}
		t.records = lines / 4
		c.records += uint64(t.records)
	}
	return t, nil
}

// fillStep is how many bytes are read before the number of lines is checked.
const fillStep = 128 << 20

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

// cutAt returns the end of the longest block of whole records within the first limit bytes and
// maxLines lines of text; 0 if there is none. The text after it does not begin with a blank
// line, which might belong to the last record's tail, unless all of the text is the block.
func cutAt(text *textWindow, marks []Mark, limit, maxLines int, eof bool) int {
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
	for ; lines%4 != 0; lines-- {
		end = text.lineBefore(end)
	}
	for end > 0 && (end == text.n || text.at(end) == '\n' || text.at(end) == '\r') {
		for range 4 {
			end = text.lineBefore(end)
		}
	}
	return end
}
