package binning

import (
	"context"
	"io"
	"io/fs"

	"orcomgo/bins/vfs"
)

// pump reads from something that may keep it waiting, in a goroutine of its own, so that
// the run can end meanwhile. It also reads ahead.
type pump struct {
	ctx  context.Context
	full chan []byte
	free chan []byte
	err  error // of the reader; set before full is closed
	rest []byte
	buf  []byte // that rest is part of
}

const pumpSize = 1 << 18

func newPump(ctx context.Context, r io.Reader) *pump {
	p := &pump{ctx: ctx, full: make(chan []byte, 4), free: make(chan []byte, 4)}
	for range cap(p.free) {
		p.free <- make([]byte, pumpSize)
	}
	go func() {
		defer close(p.full)
		for p.err == nil {
			var buf []byte
			select {
			case buf = <-p.free:
			case <-ctx.Done():
				return
			}
			var n int
			n, p.err = r.Read(buf)
			select {
			case p.full <- buf[:n]:
			case <-ctx.Done():
				return
			}
		}
	}()
	return p
}

// Read implements io.Reader.
func (p *pump) Read(dst []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.buf != nil {
			p.free <- p.buf
			p.buf = nil
		}
		select {
		case buf, ok := <-p.full:
			if !ok {
				if err := p.ctx.Err(); err != nil {
					return 0, err
				}
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

// openFile opens a file to read. Opening a pipe waits for someone to write to it, so that
// ends with ctx.
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
