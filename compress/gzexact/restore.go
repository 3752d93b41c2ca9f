package gzexact

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// restorer reads a description and the text beside it, and writes the file.
type restorer struct {
	description *bufio.Reader
	text        io.Reader
	to          io.Writer
	template    *template
	before      *frame // the last one
	window      []byte // text that matches may refer to, and behind ahead what was read of the text of the next frames
	ahead       int
	begun       byte // the byte of the file that was begun, of which there are so many bits
	bits        byte
}

const (
	mostHeader = 1 << 20
	mostCode   = 64 << 20 // of the description of a frame
)

func newRestorer(description, text io.Reader, to io.Writer) (*restorer, error) {
	r := &restorer{description: bufio.NewReader(description), text: text, to: to}
	header, err := r.block(mostHeader)
	r.template = newTemplate(header)
	return r, err
}

// block reads bytes after their number. What is allocated is at most twice what is there.
func (r *restorer) block(most uint64) ([]byte, error) {
	n, err := binary.ReadUvarint(r.description)
	if err != nil || n > most {
		return nil, errDamaged
	}
	var b bytes.Buffer
	if got, err := io.CopyN(&b, r.description, int64(n)); err != nil {
		if err != io.EOF {
			return nil, err
		}
		return nil, fmt.Errorf("%w: cut off after %d bytes of %d", errDamaged, got, n)
	}
	return b.Bytes(), nil
}

// next returns the task of the next frame, or nil.
func (r *restorer) next() (*task, error) {
	code, err := r.block(mostCode)
	if err != nil || len(code) == 0 {
		return nil, err
	}
	f, size, stream, err := parseFrame(code)
	if err != nil {
		return nil, err
	}
	f.from = kept(r.ahead)
	if f.history > f.from || f.carriedOn && (r.before == nil || r.before.writer != f.writer) {
		return nil, errDamaged
	}
	before := r.window[r.ahead-f.from:]
	f.to = f.from + size
	most := f.to + tailBytes
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
		return nil, fmt.Errorf("%w: the text is shorter than it says", errDamaged)
	}
	f.text = f.text[:f.content+padBytes]
	r.window, r.ahead, r.before = f.text[:f.content], f.to, f
	return &task{frame: f, template: r.template, code: stream}, nil
}

// write writes a frame.
func (r *restorer) write(t *task) error {
	w := &t.bits
	w.flush()
	if t.frame.bit != r.bits {
		return errDamaged
	}
	if len(w.out) > 0 {
		w.out[0] |= r.begun
		r.begun = 0
	}
	r.begun, r.bits = r.begun|byte(w.pending), byte(w.n)
	_, err := r.to.Write(w.out)
	return err
}

// end checks that nothing is left.
func (r *restorer) end() error {
	if _, err := r.description.ReadByte(); err != io.EOF {
		return fmt.Errorf("%w: it goes on behind its end", errDamaged)
	}
	if r.bits != 0 {
		return errDamaged
	}
	if len(r.window) == r.ahead {
		if n, err := io.ReadFull(r.text, make([]byte, 1)); n == 0 && err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: the text is longer than it says", errDamaged)
}
