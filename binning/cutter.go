package binning

import (
	"bytes"
	"io"

	"orcomgo/bins/record"
)

// chunk is one block of an input on its way from the source to the assigner.
type chunk struct {
	Text
	textLen  uint64
	textHash [16]byte // of Canonical text only; the pipeline computes that of other text
	forms    record.Forms
	records  int
}

// cutter cuts an input into blocks. next fills buf, which must have room for the block size, or
// a larger buffer that grow returns. The last block has Last set.
type cutter interface {
	next(buf []byte, grow growFunc) (*chunk, error)
	close()
}

// growFunc returns a buffer of at least n bytes with the content of buf, and frees buf.
type growFunc func(buf []byte, n int) ([]byte, error)

// minRecordText bounds the number of records of a block, to one for so many bytes of the block
// size. A record takes memory whatever its length, and this bounds it.
const minRecordText = 32

// lineCutter cuts text of four lines a record, by line ends alone.
type lineCutter struct {
	src       *source
	kind      record.Kind
	blockSize int
	left      []byte // text that was read and is not in a block yet
	eof       bool
	records   uint64
}

func (c *lineCutter) close() { c.src.close() }

func (c *lineCutter) next(buf []byte, grow growFunc) (*chunk, error) {
	buf = append(buf[:0], c.left...)
	marks := countLines(nil, buf, 0, 0, serial)
	target, maxLines := c.blockSize, 4*max(c.blockSize/minRecordText, 1)
	for ; ; target, maxLines = 2*target, 2*maxLines {
		if need := c.src.atMost(len(buf), target); cap(buf) < need {
			var err error
			if buf, err = grow(buf, need); err != nil {
				return nil, err
			}
		}
		// Text that is left from a larger block may already exceed the target.
		for !c.eof && len(buf) < target && lineCount(marks) < maxLines {
			end := min(target, len(buf)+fillStep, cap(buf))
			n, m, err := c.src.fill(buf[len(buf):end], len(buf), lineCount(marks), marks)
			marks = m
			buf = buf[:len(buf)+n]
			if err == io.EOF {
				c.eof = true
			} else if err != nil {
				return nil, err
			}
		}
		end := cutAt(buf, marks, min(target, len(buf)), maxLines, c.eof)
		if end == 0 && len(buf) > 0 {
			continue // less than one record: read more
		}
		t := &chunk{textLen: uint64(end)}
		t.Data, t.Last, t.Kind, t.File, t.FirstRecord = buf[:end], c.eof && end == len(buf), c.kind, c.src.path, c.records
		c.left = append(c.left[:0], buf[end:]...)
		for len(marks) > 0 && marks[len(marks)-1].Offset > end {
			marks = marks[:len(marks)-1]
		}
		t.Marks = marks
		if !t.Last {
			lines, from := 0, 0
			if n := len(marks); n > 0 {
				lines, from = marks[n-1].Lines, marks[n-1].Offset
			}
			t.records = (lines + bytes.Count(t.Data[from:], []byte{'\n'})) / 4
			c.records += uint64(t.records)
		}
		return t, nil
	}
}

// fillStep is how many bytes are read before the number of lines is checked.
const fillStep = 32 << 20

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
func cutAt(text []byte, marks []Mark, limit, maxLines int, eof bool) int {
	// The last mark before the limit that still has few enough lines.
	from, lines := 0, 0
	for _, m := range marks {
		if m.Offset > limit || m.Lines > maxLines {
			break
		}
		from, lines = m.Offset, m.Lines
	}
	end := from
	for lines < maxLines && end < limit {
		n := bytes.IndexByte(text[end:limit], '\n')
		if n < 0 {
			break
		}
		end += n + 1
		lines++
	}
	if eof && limit == len(text) && (lines < maxLines || end == len(text)) {
		return len(text)
	}
	// Back to the end of the last line, then to that of the last whole record.
	end = bytes.LastIndexByte(text[:end], '\n') + 1
	for ; lines%4 != 0; lines-- {
		end = lineBefore(text, end)
	}
	for end > 0 && (end == len(text) || text[end] == '\n' || text[end] == '\r') {
		for range 4 {
			end = lineBefore(text, end)
		}
	}
	return end
}

// lineBefore returns the start of the line that ends at end.
func lineBefore(text []byte, end int) int {
	return bytes.LastIndexByte(text[:end-1], '\n') + 1
}
