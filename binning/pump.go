package binning

import (
	"context"
	"io"
	"io/fs"

	"orcomgo/bins/vfs"
)

// pump reads ahead from a reader that may block for long, such as a pipe, in a goroutine of its
// own, so that the run can end while it blocks.
type pump struct {
	ctx   context.Context
	full  chan []byte
	empty chan []byte
	err   error // of the reader; set before full is closed
	rest  []byte
	buf   []byte // that rest is part of
}

const pumpSize = 1 << 18

// newPump begins to read from r. When ctx ends, Read returns its error, even while r waits.
func newPump(ctx context.Context, r io.Reader) *pump {
	p := &pump{ctx: ctx, full: make(chan []byte, 4), empty: make(chan []byte, 4)}
	for range cap(p.empty) {
		p.empty <- make([]byte, pumpSize)
	}
	go p.fill(r)
	return p
}

// fill fills the empty buffers.
func (p *pump) fill(r io.Reader) {
	defer close(p.full)
	for p.err == nil {
		var buf []byte
		select {
		case buf = <-p.empty:
		case <-p.ctx.Done():
			p.err = p.ctx.Err()
			return
		}
		var n int
		n, p.err = r.Read(buf)
		select {
		case p.full <- buf[:n]:
		case <-p.ctx.Done():
			p.err = p.ctx.Err()
		}
	}
}

func (p *pump) Read(dst []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.buf != nil {
			p.empty <- p.buf
			p.buf = nil
		}
		select {
		case buf, ok := <-p.full:
			if !ok {
				return 0, p.err
			}
			p.rest, p.buf = buf, buf[:pumpSize]
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		}
	}
	n := copy(dst, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// openFile opens a file to read. Opening a named pipe blocks until it has a writer, or until
// ctx ends.
func openFile(ctx context.Context, path string) (*vfs.File, error) {
	info, err := vfs.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeNamedPipe == 0 {
		return vfs.Open(path)
	}
	type result struct {
		f   *vfs.File
		err error
	}
	opened := make(chan result, 1)
	go func() {
		f, err := vfs.Open(path)
		opened <- result{f, err}
	}()
	select {
	case r := <-opened:
		return r.f, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
