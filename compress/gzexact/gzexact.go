package gzexact

import (
	"errors"
	"io"

	"orcomgo/bins/parse"
)

// ErrUnknownWriter means that the choices of the program that made a gzip file can't be predicted: to describe them would take more than a
// 50th of the file.
var ErrUnknownWriter = errors.New("it is not known what made this gzip file")

// Description sums up what Describe has read and written.
type Description struct {
	File, Text, Size int64  // bytes of the gzip file, of its text, and of the description
	Writer           string // of the beginning of the file
}

// A description may take a part of the file, and some bytes. This is seen whenever a frame was coded, from so many bytes of the file on.
const (
	mostPart  = 50
	mostBytes = 256
	seenFrom  = 1 << 20

	unknownPart = 10 // of the beginning of the file
)

// Describe reads a gzip file to its end and writes a description, with which Restore makes the file of its text. Frames are coded by as
// many goroutines as threads says, besides the one that reads. The error wraps ErrInput if the file is damaged, and is ErrUnknownWriter if
// its description would be too large.
func Describe(gz io.Reader, to io.Writer, threads int) (Description, error) {
	d := &describer{scanner: newScanner(gz), to: to}
	var err error
	if d.frame, err = d.scanner.next(); err == nil {
		var q queue
		err = q.run(threads, d.next, (*task).encode, d.write)
	}
	if err == nil {
		err = d.put(nil)
	}
	if err == nil && d.Size > d.File/mostPart+mostBytes {
		err = ErrUnknownWriter
	}
	return d.Description, err
}

type describer struct {
	Description
	scanner *scanner
	to      io.Writer
	frame   *frame // the next one
	writer  writer
	place   int64 // bytes of the file up to the end of the last task
}

// put writes bytes after their number.
func (d *describer) put(b []byte) error {
	n, err := d.to.Write(parse.AppendBlock(nil, b))
	d.Size += int64(n)
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
	d.frame = behind
	before := d.writer
	if err := d.guess(f, place-d.place); err != nil {
		return nil, err
	}
	f.writer = d.writer
	f.carriedOn = d.place > 0 && d.writer == before && f.needsPrevious()
	d.Text, d.place = d.Text+int64(f.to-f.from), place
	return &task{frame: f, template: s.template, file: place}, nil
}

// guess guesses the writer of the first frame, and of others that begin with a member: files are joined of several.
func (d *describer) guess(f *frame, size int64) (err error) {
	t := d.scanner.template
	first := d.place == 0
	if !first && (f.inside || f.from == f.to || f.parts[0].event == eventMember && t.sizeAt > 0) {
		return nil
	}
	var unknown bool
	if d.writer, unknown = guess(f, t, d.writer, size); unknown {
		return ErrUnknownWriter
	}
	if first {
		d.Writer = d.writer.String()
		err = d.put(t.header)
	}
	return err
}

// write writes the description of a frame.
func (d *describer) write(t *task) error {
	d.File, t.frame.parts = t.file, nil
	err := d.put(t.code)
	if err == nil && d.File >= seenFrom && d.Size > d.File/mostPart {
		err = ErrUnknownWriter
	}
	return err
}

// Restore makes a gzip file of its description and its text. Frames are decoded by as many goroutines as threads says. The error wraps
// parse.ErrCorrupt if the description is damaged or belongs to another text.
func Restore(description, text io.Reader, to io.Writer, threads int) error {
	r, err := newRestorer(description, text, to)
	if err == nil {
		var q queue
		err = q.run(threads, r.next, (*task).decode, r.write)
	}
	if err == nil {
		err = r.end()
	}
	return err
}
