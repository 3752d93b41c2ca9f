package gzexact

import (
	"fmt"
	"io"

	"orcomgo/bins/parse"
)

// restorer reads a description and the text beside it, and writes the file.
type restorer struct {
	description *parse.Cursor
	text        io.Reader
	to          io.Writer
	template    *template
	before      *frame // the last one
	window      []byte // text that matches may refer to, and behind ahead what was read of the text of the next frames
	ahead       int
	begun       byte // the byte of the file that was begun, of which there are so many bits
	bits        byte
}

// next returns the task of the next frame, or nil.
func (r *restorer) next() (*task, error) {
	code := r.description.Block()
	if r.description.Failed() {
		return nil, errDamaged
	} else if len(code) == 0 {
		return nil, nil
	}
	f, size, stream, err := parseFrame(code)
	if err != nil {
		return nil, err
	}
	f.from = kept(r.ahead)
	if min(f.seen, windowSize) > f.from || f.carriedOn && (r.before == nil || r.before.writer != f.writer) {
		return nil, errDamaged
	}
	before := r.window[r.ahead-f.from:]
	f.to = f.from + size
	behind := *r.description
	_, ahead, _, _ := parseFrame(behind.Block()) // 0 bytes if there is none
	most := f.to + min(ahead, tailBytes)
	f.text = make([]byte, most+padBytes)
	n := copy(f.text[:most], before)
	if n < len(before) {
		return nil, errDamaged
	}
	got, err := io.ReadFull(r.text, f.text[n:most])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if f.content = n + got; f.content < f.to {
		return nil, errDamaged
	}
	f.text = f.text[:f.content+padBytes]
	r.window, r.ahead, r.before = f.text[:f.content], f.to, f
	return &task{frame: f, template: r.template, code: stream}, nil
}

// write writes a frame.
func (r *restorer) write(t *task) error {
	w := &t.bits
	w.Flush()
	if t.bit != r.bits {
		return errDamaged
	}
	if len(w.Out) > 0 {
		w.Out[0] |= r.begun
		r.begun = 0
	}
	r.begun, r.bits = r.begun|byte(w.Pending), byte(w.N)
	_, err := r.to.Write(w.Out)
	return err
}

// end checks that nothing is left.
func (r *restorer) end() error {
	if !r.description.Done() || r.bits != 0 {
		return errDamaged
	}
	n, err := io.ReadFull(r.text, make([]byte, 1))
	if n > 0 || len(r.window) > r.ahead {
		return fmt.Errorf("%w: the text is longer than it says", errDamaged)
	} else if err != io.EOF {
		return err
	}
	return nil
}
