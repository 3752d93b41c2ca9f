package binning

import (
	"context"
	"io"

	"orcomgo/bins/record"
)

// recordCutter cuts FASTA, and FASTQ wrapped over lines. Each record is rendered from its name,
// sequence, qualities and form; one that is not equal to its text then is refused.
type recordCutter struct {
	src       *source
	kind      record.Kind
	blockSize int
	size      int // of the memory to begin a block with
	walker    walker
	ahead     ahead
	current   aheadRecord // the record that was parsed last
	four      []byte      // it in four lines, if it was parsed ahead
	records   uint64      // in blocks so far
	walked    uint64      // records parsed so far
	pending   bool        // that record is not in a block yet
	done      bool
	text      []byte // memory
	buffers   hostTexts
}

// newRecordCutter returns a cutter of the text in left, which is not empty and has been read from
// src already, and of the rest of src. If ended, left was all of it.
func newRecordCutter(src *source, kind record.Kind, blockSize, size int, left []byte, ended bool) *recordCutter {
	c := &recordCutter{src: src, kind: kind, blockSize: blockSize, size: size}
	c.walker = walker{in: src, kind: kind, buf: left}
	if ended {
		c.walker.err = io.EOF
	}
	return c
}

// parallel makes it parse with the threads of a pool.
func (c *recordCutter) parallel(p *pool) {
	c.walker.run = p.run
	c.ahead.run, c.ahead.threads = p.run, p.threads
}

func (c *recordCutter) close() { c.src.close() }

// next returns a block in memory of the host, whatever the assigner's is.
func (c *recordCutter) next(context.Context, textMemory) (*chunk, error) {
	memory := c.buffers.get(c.size)
	t, err := c.block(memory)
	if err != nil {
		memory.Free()
		return nil, err
	}
	t.buffer = memory
	return t, nil
}

func (c *recordCutter) block(memory *hostText) (*chunk, error) {
	t := new(chunk)
	t.Kind, t.File, t.FirstRecord, t.Canonical = c.kind, c.src.path, c.records, true
	c.walker.hash.Reset()
	var forms formList
	buf := memory.Host(0)
	for !c.done && t.records < max(c.blockSize/minRecordText, 1) {
		if err := c.fetch(); err != nil {
			return nil, err
		}
		if c.done {
			break
		}
		size, textLen := c.current.four, c.current.text
		if t.records > 0 && (len(buf)+size > c.blockSize || int(t.textLen)+textLen > c.blockSize || forms.size > c.blockSize) {
			break
		}
		if cap(buf) <= len(buf)+size {
			n := max(len(buf)+size+1, min(c.blockSize, cap(buf)+cap(buf)/2))
			if uint64(n) > maxText {
				return nil, &RecordError{File: c.src.path, Record: c.walked, Expected: "a record of less than 4 GiB", Found: "a longer one"}
			}
			memory.Grow(n, len(buf))
			buf = memory.Host(len(buf))
		}
		if c.four != nil {
			buf = append(buf, c.four...)
		} else {
			buf = appendFourLines(buf, &c.walker)
		}
		forms.add(c.current.form, c.current.letters)
		t.textLen += uint64(textLen)
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
	next, four := c.ahead.next()
	if next == nil {
		c.ahead.fill(w)
		next, four = c.ahead.next()
	}
	if next != nil {
		w.at, w.textLen = w.at+w.textLen, next.text
		c.current, c.four, c.pending = *next, four, true
		c.walked++
		return nil
	}
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
		if !w.givesBack(&c.text) {
			bad = &mismatch{"a record that can be given back byte for byte", "one that can't", false}
		}
	}
	if bad != nil {
		return &RecordError{File: c.src.path, Record: c.walked, Expected: bad.expected, Found: bad.found, wrapped: w.wrapped}
	}
	c.ahead.serial -= w.textLen
	c.current, c.four = aheadRecord{w.textLen, len(w.name) + len(w.seq) + len(w.qual) + 5, len(w.seq), &w.form}, nil
	c.pending = true
	return nil
}
