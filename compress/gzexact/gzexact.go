package gzexact

import (
	"encoding/binary"
	"errors"
	"io"
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
// many goroutines as threads says. The error wraps ErrInput if the file is damaged, and is ErrUnknownWriter if its description would be
// too large.
func Describe(gz io.Reader, to io.Writer, threads int) (Description, error) {
	d := &describer{scanner: newScanner(gz), to: to}
	err := d.run(max(threads, 1))
	return d.Description, err
}

type describer struct {
	Description
	scanner *scanner
	to      io.Writer
	queue   queue
	writer  writer
	place   int64 // bytes of the file up to the end of the last frame that was added
}

func (d *describer) run(threads int) error {
	s := d.scanner
	f, err := s.next()
	for f != nil && err == nil {
		place := s.place()
		var behind *frame
		if behind, err = s.next(); err == nil {
			s.finish(f, behind)
			if err = d.guess(f, place); err != nil {
				break
			}
			d.add(f, place)
			if len(d.queue.tasks) > threads {
				err = d.write()
			}
			f = behind
		}
	}
	for len(d.queue.tasks) > 0 { // also after an error, so that nothing goes on
		if e := d.write(); err == nil {
			err = e
		}
	}
	if err == nil {
		err = d.put([]byte{0})
	}
	if err == nil && d.Size > d.File/mostPart+mostBytes {
		err = ErrUnknownWriter
	}
	return err
}

func (d *describer) put(b []byte) error {
	d.Size += int64(len(b))
	_, err := d.to.Write(b)
	return err
}

// guess guesses the writer of the first frame, and of others that begin with a member: files are joined of several.
func (d *describer) guess(f *frame, place int64) (err error) {
	t := d.scanner.template
	first := d.Size == 0
	if !first && (f.inside || f.parts[0].event == eventMember && t.sizeAt > 0) {
		return nil
	}
	var unknown bool
	if d.writer, unknown = guess(f, t, d.writer, place-d.place); unknown {
		return ErrUnknownWriter
	}
	if first {
		d.Writer = d.writer.String()
		err = d.put(append(binary.AppendUvarint(nil, uint64(len(t.header))), t.header...))
	}
	return err
}

// add has a frame coded. place is how many bytes of the file are read behind it.
func (d *describer) add(f *frame, place int64) {
	d.Text, d.place = d.Text+int64(f.to-f.from), place
	f.writer = d.writer
	t := &task{frame: f, template: d.scanner.template, file: place}
	if before := d.queue.last; before != nil && before.frame.writer == f.writer && f.needsPrevious() {
		f.carriedOn = true
	}
	d.queue.add(t, t.encode)
}

// write writes the description of the first frame of the queue.
func (d *describer) write() error {
	t := d.queue.take()
	d.File, t.frame.parts = t.file, nil
	if t.err != nil {
		return t.err
	}
	err := d.put(append(binary.AppendUvarint(nil, uint64(len(t.code))), t.code...))
	if err == nil && d.File >= seenFrom && d.Size > d.File/mostPart {
		err = ErrUnknownWriter
	}
	return err
}

// Restore makes a gzip file of its description and its text. Frames are decoded by as many goroutines as threads says. The error wraps
// parse.ErrCorrupt if the description is damaged or belongs to another text.
func Restore(description, text io.Reader, to io.Writer, threads int) error {
	r, err := newRestorer(description, text, to)
	for err == nil {
		var t *task
		if t, err = r.next(); t == nil || err != nil {
			break
		}
		if r.queue.add(t, t.decode); len(r.queue.tasks) > max(threads, 1) {
			err = r.write()
		}
	}
	if r == nil {
		return err
	}
	for len(r.queue.tasks) > 0 {
		if e := r.write(); err == nil {
			err = e
		}
	}
	if err == nil {
		err = r.end()
	}
	return err
}
