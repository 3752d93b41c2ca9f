package gzexact

import (
	"errors"
	"io"
	"slices"

	"orcomgo/bins/parse"
)

// Errors of Describe about files that can't be described, besides ErrInput.
var (
	// ErrUnknownWriter means that the choices of the program that made the file can't be predicted: to describe them would take more than
	// a 50th of the file.
	ErrUnknownWriter = errors.New("it is not known what made this gzip file")
	// ErrLarge means that the description would be larger than it may be.
	ErrLarge = errors.New("to say how it was compressed would take too much")
)

// A description may take a part of the file, and some bytes. This is seen whenever a frame was coded, from so many bytes of the file on.
const (
	mostPart  = 50
	mostBytes = 256
	seenFrom  = 1 << 20
)

// Describe reads a gzip file to its end and returns a description of at most so many bytes, with which Restore makes the file of its text.
// Frames are coded by as many goroutines as threads says, besides the one that reads. The error wraps ErrInput if the file is damaged.
func Describe(gz io.Reader, most, threads int) ([]byte, error) {
	d := &describer{scanner: newScanner(gz), most: most}
	if err := d.run(threads); err != nil {
		return nil, err
	}
	return d.out, nil
}

// Known reads the beginning of a gzip file, of about 300 KiB of text. The error is one that Describe would return, if it is seen
// so early.
func Known(gz io.Reader) (err error) {
	d := &describer{scanner: newScanner(gz)}
	d.scanner.most = 64 << 10
	if d.frame, err = d.scanner.next(); err == nil {
		d.scanner.most = tailBytes
		_, err = d.next()
	}
	return err
}

type describer struct {
	scanner *scanner
	most    int
	out     []byte
	frame   *frame // the next one
	writer  writer
	guessed bool  // by tokens
	place   int64 // bytes of the file up to the end of the last task
	file    int64 // bytes that are described
}

func (d *describer) run(threads int) (err error) {
	if d.frame, err = d.scanner.next(); err == nil {
		err = run(threads, d.next, (*task).encode, d.write)
	}
	if d.out = append(d.out, 0); err == nil && int64(len(d.out)) > d.file/mostPart+mostBytes {
		err = ErrUnknownWriter
	}
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
	before := d.writer
	if d.place == 0 {
		d.out = parse.AppendBlock(d.out, s.template.header)
	}
	var t *task
	// Files are joined of several, so each frame that begins with a member may have another writer. Stored blocks show none.
	if !d.guessed || !f.inside && f.from < f.to && (f.parts[0].event != eventMember || s.template.sizeAt == 0) {
		if t = guess(f, s.template, before, place-d.place); t == nil {
			return nil, ErrUnknownWriter
		}
		d.writer = t.writer
		d.guessed = d.guessed || slices.ContainsFunc(f.parts, func(p part) bool { return len(p.block.tokens) > 0 })
	}
	f.setWriter(d.writer, d.writer == before)
	if t == nil || f.inside || t.to < f.to { // else all of it is coded already
		t = &task{frame: f, template: s.template}
	}
	d.frame, d.place, t.file = behind, place, place
	return t, nil
}

// write writes the description of a frame.
func (d *describer) write(t *task) error {
	d.file, t.parts = t.file, nil
	d.out = parse.AppendBlock(d.out, t.code)
	switch {
	case len(d.out) >= d.most:
		return ErrLarge
	case d.file >= seenFrom && int64(len(d.out)) > d.file/mostPart:
		return ErrUnknownWriter
	}
	return nil
}

// Restore makes a gzip file of its description and its text. Frames are decoded by as many goroutines as threads says. The error wraps
// parse.ErrCorrupt if the description is damaged or belongs to another text.
func Restore(description []byte, text io.Reader, to io.Writer, threads int) error {
	c := parse.Cursor{Rest: description}
	r := &restorer{description: &c, template: newTemplate(c.Block()), text: text, to: to}
	err := run(threads, r.next, (*task).decode, r.write)
	if err == nil {
		err = r.end()
	}
	return err
}
