package binning

import (
	"context"
	"io"

	"orcomgo/bins/record"
	"orcomgo/internal/tasks"
)

// recordCutter cuts FASTA, FASTQ wrapped over lines, and BAM. Each record is rendered from its name,
// sequence, qualities and form; one that is not equal to its text then is refused.
type recordCutter struct {
	src       *source
	kind      record.Kind
	each      int // how many records are not to be divided: 1, or 2 of mates in turn
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
	c := &recordCutter{src: src, kind: kind, each: 1, blockSize: blockSize, size: size}
	c.walker = walker{in: src, kind: kind, buf: left, header: kind == record.BAM}
	if ended {
		c.walker.err = io.EOF
	}
	return c
}

// parallel makes it parse with the threads of a pool, and so many pieces of the text ahead.
func (c *recordCutter) parallel(p *tasks.Pool, pieces int) {
	c.walker.run, c.walker.longSequence = p.Run, longSequence
	c.ahead.run, c.ahead.pieces, c.ahead.piece = p.Run, pieces, aheadPiece
}

// next returns a block in memory of the host, whatever the assigner's is.
func (c *recordCutter) next(context.Context, Assigner) (*chunk, error) {
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
	most := max(c.blockSize/minRecordText/c.each, 1) * c.each
	for !c.done && t.records < most {
		if !c.pending && forms.size <= c.blockSize {
			if c.ahead.empty() {
				c.ahead.fill(&c.walker)
			}
			buf = c.takeSegments(t, &forms, memory, buf, most)
			if t.records >= most {
				break
			}
		}
		if err := c.fetch(); err != nil {
			return nil, err
		}
		if c.done {
			break
		}
		size, textLen := c.current.four, c.current.text
		taken := len(buf) + size
		if c.kind == record.BAM {
			taken += forms.size // each record has a form of its own
		}
		if t.records > 0 && t.records%c.each == 0 &&
			(taken > c.blockSize || int(t.textLen)+textLen > c.blockSize || forms.size > c.blockSize) {
			break
		}
		if cap(buf) <= len(buf)+size {
			n := max(len(buf)+size+1, min(c.blockSize, cap(buf)+cap(buf)/2))
			if uint64(n) > maxText {
				return nil, &RecordError{File: c.src.path, Record: c.walked, Expected: "a record of less than 4.29 GB", Found: "a longer one"}
			}
			memory.Grow(n, len(buf))
			buf = memory.Host(len(buf))
		}
		if c.four != nil {
			buf = append(buf, c.four...)
		} else {
			buf = appendFourLines(buf, &c.walker)
		}
		forms.add(c.current.form, c.current.letters, c.current.fields)
		t.textLen += uint64(textLen)
		t.records++
		c.pending = false
	}
	// If the block is full, it must be known whether it is the last.
	if err := c.fetch(); err != nil {
		return nil, err
	}
	t.Data, t.Last = buf, c.done
	c.walker.hashUsed()
	t.textHash = c.walker.hash.Sum()
	t.forms = forms.forms()
	c.records += uint64(t.records)
	return t, nil
}

// takeSegments adds segments that were parsed ahead to a block, as long as all of their records belong to it. It returns the text of the
// block, which was buf.
func (c *recordCutter) takeSegments(t *chunk, forms *formList, memory *hostText, buf []byte, most int) []byte {
	size, text, records := len(buf), int(t.textLen), t.records
	if c.kind == record.BAM {
		size += forms.size
	}
	taken := c.ahead.whole(func(s *aheadSegment) bool {
		size, text, records = size+len(s.four)+s.fields, text+s.to-s.from, records+len(s.records)
		return !s.listed && size <= c.blockSize && text <= c.blockSize && records <= most
	})
	if len(taken) == 0 {
		return buf
	}
	at := make([]int, len(taken)+1)
	at[0] = len(buf)
	w := &c.walker
	for i, s := range taken {
		at[i+1] = at[i] + len(s.four)
		for k := range s.records {
			r := &s.records[k]
			forms.add(r.form, r.letters, r.fields)
		}
		t.textLen += uint64(s.to - s.from)
		t.records += len(s.records)
		c.walked += uint64(len(s.records))
		w.at, w.textLen = w.at+w.textLen, s.to-s.from
	}
	n := at[len(taken)]
	if cap(buf) < n {
		memory.Grow(max(n, min(c.blockSize, cap(buf)+cap(buf)/2)), len(buf))
		buf = memory.Host(len(buf))
	}
	buf = buf[:n]
	c.ahead.run(len(taken), func(i int) { copy(buf[at[i]:], taken[i].four) })
	return buf
}

// fetch parses a record unless one is pending, or sets done after the last.
func (c *recordCutter) fetch() error {
	if c.pending || c.done {
		return nil
	}
	w := &c.walker
	if c.ahead.empty() {
		c.ahead.fill(w)
	}
	if next, four := c.ahead.next(); next != nil {
		w.at, w.textLen = w.at+w.textLen, next.text
		c.current, c.four, c.pending = *next, four, true
		c.walked++
		return nil
	}
	w.number = c.walked + 1
	bad, err := w.record()
	switch {
	case err == io.EOF:
		c.done = true
		return nil
	case isBAMError(err):
		return c.src.wrap(err)
	case err != nil:
		return err
	}
	c.walked++
	if bad == nil && !w.givesBack(&c.text) {
		bad = &mismatch{"a record that can be given back byte for byte", "one that can't", false}
	}
	if bad != nil {
		return &RecordError{File: c.src.path, Record: c.walked, Expected: bad.expected, Found: bad.found, wrapped: w.wrapped}
	}
	c.ahead.serial -= w.textLen
	c.current, c.four = aheadRecord{w.textLen, len(w.name) + len(w.seq) + len(w.qual) + 5, len(w.seq), &w.form, w.form.PlusText}, nil
	c.pending = true
	return nil
}
