package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

// abortable is a reader whose Read returns when a context ends, even if that of the
// reader behind it does not: a read of a pipe can wait for ever.
type abortable struct {
	ctx  context.Context
	in   io.Reader
	buf  []byte
	rest []byte       // of buf, not delivered yet
	err  error        // after rest
	ask  chan []byte  // nil until the first Read
	got  chan outcome // of the read that was asked for
}

type outcome struct {
	n   int
	err error
}

func newAbortable(ctx context.Context, in io.Reader) *abortable {
	return &abortable{ctx: ctx, in: in}
}

// Stat describes the file behind the reader, if there is one.
func (a *abortable) Stat() (fs.FileInfo, error) {
	if f, ok := a.in.(interface{ Stat() (fs.FileInfo, error) }); ok {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}

func (a *abortable) Read(p []byte) (int, error) {
	if a.ask == nil {
		a.buf, a.ask, a.got = make([]byte, 256<<10), make(chan []byte, 1), make(chan outcome, 1)
		go func() {
			for b := range a.ask {
				n, err := a.in.Read(b)
				a.got <- outcome{n, err}
			}
		}()
	}
	for len(a.rest) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		a.ask <- a.buf
		select {
		case o := <-a.got:
			a.rest, a.err = a.buf[:o.n], o.err
		case <-a.ctx.Done():
			a.err = context.Cause(a.ctx)
		}
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}
