package inflate

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"

	"orcomgo/internal/deflate"
)

// The reader that this package replaced, with klauspost/compress, one member after another:
// what it made of any file is what a Reader must make of it.

// readPlainly returns the text of a file, or that before an error and the error.
func readPlainly(data []byte) ([]byte, error) {
	p := plainReader{in: bufio.NewReaderSize(bytes.NewReader(data), 1<<17), size: len(data)}
	p.rest = bytes.NewReader(data)
	p.in = bufio.NewReaderSize(p.rest, 1<<17)
	err := p.read()
	switch {
	case err == io.EOF:
		err = nil
	case errors.Is(err, gzip.ErrHeader):
		err = ErrHeader
	case errors.Is(err, gzip.ErrChecksum):
		err = ErrChecksum
	}
	return p.text.Bytes(), err
}

type plainReader struct {
	rest *bytes.Reader
	in   *bufio.Reader
	size int
	text bytes.Buffer
}

func (p *plainReader) offset() int { return p.size - p.rest.Len() - p.in.Buffered() }

func (p *plainReader) read() error {
	z := new(gzip.Reader)
	for bgzf := true; ; {
		head, _ := p.in.Peek(bgzfHeader)
		bgzf = bgzf && deflate.IsBGZF(head)
		before := p.text.Len()
		err := z.Reset(p.in)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		z.Multistream(false)
		buf := make([]byte, 1000)
		for err == nil {
			var n int
			n, err = z.Read(buf)
			p.text.Write(buf[:n])
		}
		if err != io.EOF {
			return err
		}
		if err := p.behind(); err == io.EOF && bgzf && p.text.Len() > before {
			return ErrBGZFEnd
		} else if err != nil {
			return err
		}
	}
}

func (p *plainReader) behind() error {
	for first := true; ; first = false {
		head, err := p.in.Peek(2)
		switch {
		case len(head) == 0:
			return err
		case first && head[0] == 0x1f && (len(head) == 1 || head[1] == 0x8b):
			return nil
		}
		head, _ = p.in.Peek(p.in.Buffered())
		for i, b := range head {
			if b != 0 {
				return &GarbageError{uint64(p.offset() + i), b}
			}
		}
		p.in.Discard(len(head))
	}
}
