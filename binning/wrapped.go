package binning

import (
	"bytes"
	"io"

	"orcomgo/bins/record"
)

// recordCutter cuts FASTA, and FASTQ wrapped over lines. Each record is rendered from its name,
// sequence, qualities and form; one that is not equal to its text then is refused.
type recordCutter struct {
	src       *source
	kind      record.Kind
	blockSize int
	walker    walker
	records   uint64 // in blocks so far
	walked    uint64 // records parsed so far
	pending   bool   // the walker's record is not in a block yet
	done      bool
	text      []byte // memory
}

// newRecordCutter returns a cutter of the text in left, which is not empty and has been read from
// src already, and of the rest of src. If ended, left was all of it.
func newRecordCutter(src *source, kind record.Kind, blockSize int, left []byte, ended bool) *recordCutter {
	c := &recordCutter{src: src, kind: kind, blockSize: blockSize}
	c.walker = walker{in: src, kind: kind, buf: left}
	if ended {
		c.walker.err = io.EOF
	}
	return c
}

func (c *recordCutter) close() { c.src.close() }

func (c *recordCutter) next(buf []byte, grow growFunc) (*chunk, error) {
	t := new(chunk)
	t.Kind, t.File, t.FirstRecord, t.Canonical = c.kind, c.src.path, c.records, true
	c.walker.hash.Reset()
	var forms formList
	buf = buf[:0]
	for !c.done && t.records < max(c.blockSize/minRecordText, 1) {
		if err := c.fetch(); err != nil {
			return nil, err
		}
		if c.done {
			break
		}
		w := &c.walker
		size := len(w.name) + len(w.seq) + len(w.qual) + 5
		if t.records > 0 && (len(buf)+size > c.blockSize || int(t.textLen)+w.textLen > c.blockSize || forms.size > c.blockSize) {
			break
		}
		if cap(buf) < len(buf)+size {
			var err error
			if buf, err = grow(buf, max(len(buf)+size, min(c.blockSize, cap(buf)+cap(buf)/2))); err != nil {
				return nil, err
			}
		}
		buf = append(append(buf, '@'), w.name...)
		buf = append(append(buf, '\n'), w.seq...)
		buf = append(append(buf, "\n+\n"...), w.qual...)
		buf = append(buf, '\n')
		forms.add(&w.form, len(w.seq))
		t.textLen += uint64(w.textLen)
		t.records++
		c.pending = false
	}
	// If the block is full, it must be known whether it is the last.
	if err := c.fetch(); err != nil {
		return nil, err
	}
	t.Data, t.Last = buf, c.done
	t.textHash = c.walker.sum()
	t.forms = forms.forms()
	c.records += uint64(t.records)
	return t, nil
}

// fetch parses a record unless one is pending, or sets done after the last.
func (c *recordCutter) fetch() error {
	if c.pending || c.done {
		return nil
	}
	w := &c.walker
	bad, err := w.record()
	if err == io.EOF {
		c.done = true
		return nil
	}
	if err != nil {
		return err
	}
	c.walked++
	if bad == nil {
		c.text, err = record.AppendRecord(c.text[:0], c.kind, w.name, w.seq, w.qual, &w.form)
		if err != nil || !bytes.Equal(c.text, w.text()[:w.textLen]) {
			bad = &mismatch{"a record that can be given back byte for byte", "one that can't", false}
		}
	}
	if bad != nil {
		return &RecordError{File: c.src.path, Record: c.walked, Expected: bad.expected, Found: bad.found, wrapped: w.wrapped}
	}
	c.pending = true
	return nil
}
