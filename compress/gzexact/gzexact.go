package gzexact

import (
	"errors"
	"io"

	"orcomgo/bins/parse"
)

// ErrUnknownWriter means that the choices of the program that made a gzip file can't be predicted: to describe them would take more than a
// 50th of the file.
var ErrUnknownWriter = errors.New("it is not known what made this gzip file")

// A description may take a part of the file, and some bytes. This is seen whenever a frame was coded, from so many bytes of the file on.
const (
	mostPart  = 50
	mostBytes = 256
	seenFrom  = 1 << 20
)

// Describe reads a gzip file to its end and writes a description, with which Restore makes the file of its text. Frames are coded by as
// many goroutines as threads says, besides the one that reads. The error wraps ErrInput if the file is damaged, and is ErrUnknownWriter if
// its description would be too large.
func Describe(gz io.Reader, to io.Writer, threads int) error {
	d := &describer{scanner: newScanner(gz), to: to}
	return d.run(threads)
}

type describer struct {
	scanner    *scanner
	to         io.Writer
	frame      *frame // the next one
	writer     writer
	place      int64 // bytes of the file up to the end of the last task
	file, size int64 // bytes that were described, and of that
}

func (d *describer) run(threads int) (err error) {
	if d.frame, err = d.scanner.next(); err == nil {
		err = run(threads, d.next, (*task).encode, d.write)
	}
	if err == nil {
		err = d.put(nil)
	}
	if err == nil && d.size > d.file/mostPart+mostBytes {
		err = ErrUnknownWriter
	}
	return err
}

// put writes bytes after their number.
func (d *describer) put(b []byte) error {
	n, err := d.to.Write(parse.AppendBlock(nil, b))
	d.size += int64(n)
	return err
}

// next returns the task of the next frame, or nil.
func (d *describer) next() (*task, error) {
	s, f, place := d.scanner, d.frame, d.scanner.place()
	if f == nil {
		return nil, nil
	}
	behind, err := s.next()
	if err != nil {
		return nil, err
	}
	s.finish(f, behind)
	first, before := d.place == 0, d.writer
	if first {
		err = d.put(s.template.header)
	}
	// Files are joined of several, so each frame that begins with a member may have another writer.
	if first || !f.inside && f.from < f.to && (f.parts[0].event != eventMember || s.template.sizeAt == 0) {
		known := false
		if d.writer, known = guess(f, s.template, before, place-d.place); !known {
			err = ErrUnknownWriter
		}
	}
	f.setWriter(d.writer, d.writer == before)
	d.frame, d.place = behind, place
	return &task{frame: f, template: s.template, file: place}, err
}

// write writes the description of a frame.
func (d *describer) write(t *task) error {
	d.file, t.frame.parts = t.file, nil
	err := d.put(t.code)
	if err == nil && d.file >= seenFrom && d.size > d.file/mostPart {
		err = ErrUnknownWriter
	}
	return err
}

// Restore makes a gzip file of its description and its text. Frames are decoded by as many goroutines as threads says. The error wraps
// parse.ErrCorrupt if the description is damaged or belongs to another text.
func Restore(description, text io.Reader, to io.Writer, threads int) error {
	r, err := newRestorer(description, text, to)
	if err == nil {
		err = run(threads, r.next, (*task).decode, r.write)
	}
	if err == nil {
		err = r.end()
	}
	return err
}
