package binning

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/shenwei356/bio/seq"
	"github.com/shenwei356/bio/seqio/fastx"
	"github.com/zeebo/xxh3"

	"orcomgo/bins"
)

// recordCutter cuts FASTA, and FASTQ wrapped over lines. The records are those that
// shenwei356/bio's reader finds; the text that it read is walked beside them to learn how
// each was laid out. A record that its name, sequence, qualities and layout don't give
// back byte for byte is refused.
type recordCutter struct {
	src       *source
	kind      bins.Kind
	blockSize int
	reader    *fastx.Reader
	tape      tape
	records   uint64   // in blocks
	walked    uint64   // records so far
	w         wrapped  // the last one
	pending   *wrapped // it, if it is not in a block yet
	done      bool
	text      []byte // memory
}

// tape keeps the text that went to the reader until it has been walked.
type tape struct {
	in   io.Reader
	text []byte
	at   int
	err  error // of in, but io.EOF
}

func (t *tape) Read(p []byte) (int, error) {
	n, err := t.in.Read(p)
	if t.at > 0 && t.at >= len(t.text)/2 {
		t.text = t.text[:copy(t.text, t.text[t.at:])]
		t.at = 0
	}
	t.text = append(t.text, p[:n]...)
	if err != nil && err != io.EOF {
		t.err = err
	}
	return n, err
}

// newRecordCutter begins with the text in left, which is not empty and has been read from
// src already, up to its end if ended.
func newRecordCutter(src *source, kind bins.Kind, blockSize int, left []byte, ended bool) (c *recordCutter, err error) {
	c = &recordCutter{src: src, kind: kind, blockSize: blockSize}
	c.tape.in = bytes.NewReader(left)
	if !ended {
		c.tape.in = io.MultiReader(c.tape.in, src)
	}
	defer func() {
		if e := recover(); e != nil { // the reader panics on what it can't begin to read
			err = fmt.Errorf("%s: %v", src.path, e)
		}
	}()
	c.reader, err = fastx.NewReaderFromIO(seq.Unlimit, &c.tape, "")
	return c, err
}

func (c *recordCutter) close() {
	if c.reader != nil {
		c.reader.Close()
	}
	c.src.close()
}

func (c *recordCutter) next(buf []byte, grow growFunc) (*chunk, error) {
	t := new(chunk)
	t.Kind, t.File, t.FirstRecord, t.Canonical = c.kind, c.src.path, c.records, true
	h := xxh3.New()
	var layouts layoutList
	buf = buf[:0]
	for !c.done && t.records < max(c.blockSize/minRecord, 1) {
		if c.pending == nil {
			var err error
			if c.pending, err = c.record(); err == io.EOF {
				c.done = true
				break
			} else if err != nil {
				return nil, err
			}
		}
		w := c.pending
		size := len(w.name) + len(w.seq) + len(w.qual) + 5
		if t.records > 0 && (len(buf)+size > c.blockSize || int(t.textLen)+w.textLen > c.blockSize) {
			break
		}
		if cap(buf) < len(buf)+size {
			var err error
			if buf, err = grow(buf, max(len(buf)+size, c.blockSize)); err != nil {
				return nil, err
			}
		}
		h.Write(c.tape.text[c.tape.at : c.tape.at+w.textLen])
		c.tape.at += w.textLen
		buf = append(append(buf, '@'), w.name...)
		buf = append(append(buf, '\n'), w.seq...)
		buf = append(append(buf, "\n+\n"...), w.qual...)
		buf = append(buf, '\n')
		layouts.add(&w.layout, len(w.seq))
		t.textLen += uint64(w.textLen)
		t.records++
		c.pending = nil
	}
	if c.pending == nil && !c.done {
		// The block is full; whether it is the last has to be known.
		var err error
		if c.pending, err = c.record(); err == io.EOF {
			c.done = true
		} else if err != nil {
			return nil, err
		}
	}
	t.Data, t.Last = buf, c.done
	t.textHash = h.Sum128().Bytes()
	t.layout = layouts.layout()
	c.records += uint64(t.records)
	return t, nil
}

// record reads the next record, io.EOF behind the last.
func (c *recordCutter) record() (*wrapped, error) {
	c.walked++
	fail := func(s *shape) error {
		return &RecordError{c.src.path, c.walked, s.expected, s.found, false}
	}
	r, err := c.read()
	if c.tape.err != nil {
		return nil, c.tape.err
	}
	if err == io.EOF {
		if rest := c.tape.text[c.tape.at:]; len(rest) > 0 {
			return nil, fail(&shape{"a record", showByte(rest[0]), false})
		}
		return nil, io.EOF
	}
	rest := c.tape.text[c.tape.at:]
	if err != nil {
		// Our own walk knows better what is wrong.
		if bad := walk(&c.w, rest, c.kind, -1); bad != nil {
			return nil, fail(bad)
		}
		return nil, fail(&shape{"a whole record", err.Error(), false})
	}
	letters := r.Seq.Seq
	if len(r.Name) == 0 {
		// The reader leaves the line ends in the sequence of a record without a name.
		letters = bytes.ReplaceAll(bytes.ReplaceAll(letters, []byte("\r\n"), nil), []byte("\n"), nil)
	}
	w := &c.w
	if bad := walk(w, rest, c.kind, len(letters)); bad != nil {
		return nil, fail(bad)
	}
	if !bytes.Equal(w.seq, letters) || c.kind == bins.FASTQ && !bytes.Equal(w.qual, r.Seq.Qual) {
		return nil, fail(&shape{"a record that two readers read alike", "one that is ambiguous", false})
	}
	c.text, err = bins.AppendRecord(c.text[:0], c.kind, w.name, w.seq, w.qual, &w.layout)
	if err != nil || !bytes.Equal(c.text, rest[:w.textLen]) {
		return nil, fail(&shape{"a record that can be given back byte for byte", "one that can't", false})
	}
	return w, nil
}

// read calls the reader, which panics on some inputs.
func (c *recordCutter) read() (r *fastx.Record, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("%v", e)
		}
	}()
	r, err = c.reader.Read()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the end of the file")
	}
	return r, err
}
