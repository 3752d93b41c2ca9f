package packing

import (
	"context"
	"fmt"
	"io"
	"sync"

	"orcomgo/compress/restoring"
	"orcomgo/digest"
)

// fileText is an input whose file is its text, and which is read again for its checksums. SHA-256 and MD5 take one thread each a second
// or two a GB, which verification would wait for at its end; like this they are computed while reads are laid out. That the file still has
// the text that was binned, and that this text comes back, is seen by the hashes of its blocks.
type fileText struct {
	check *restoring.TextCheck
	err   error         // set once done is closed
	done  chan struct{} // closed when check has all of the file
}

// readFiles begins to read the files of inputs again. They are in p.files then; nil for one that is not read. wait waits until none is
// read any more.
func (p *packer) readFiles(ctx context.Context) (wait func()) {
	var reading sync.WaitGroup
	p.files = make([]*fileText, len(p.man.Inputs))
	for i := range p.files {
		in := &p.man.Inputs[i]
		s := in.Source
		if p.o.NoVerify || p.o.Open == nil || in.Blocks == nil || !p.man.Options.Exact(in.Kind) ||
			s == nil || !s.Plain || s.Name == "" || s.Sums != nil { // without a name it is no regular file
			continue
		}
		f := &fileText{check: restoring.NewTextCheck(in, true, wantsMD5(in)), done: make(chan struct{})}
		p.files[i] = f
		if p.o.Threads >= manyThreads {
			p.pool.Hold(ctx, 2, f.done) // else other tasks would leave them too little of the processor
		}
		reading.Go(func() {
			defer close(f.done)
			var r io.ReadCloser
			if r, f.err = p.o.Open(i); f.err == nil {
				defer r.Close()
				f.err = f.check.Read(ctx, r)
			}
		})
	}
	return reading.Wait
}

// sums returns the checksums, after the file was read.
func (f *fileText) sums() (digest.Sums, error) {
	<-f.done
	if f.err != nil {
		return digest.Sums{}, fmt.Errorf("the input was changed, or can't be read again, while it was archived: %w", f.err)
	}
	return f.check.Sums.Sums(), nil
}
