package sidefiles

import (
	"context"
	"io"
	"slices"
	"sort"

	"github.com/zeebo/xxh3"

	"orcomgo/internal/tasks"
)

// Sink takes the contents of files.
type Sink struct {
	// Begin returns what the content of file i is written to. An error ends the extraction.
	Begin func(i int) (io.Writer, error)
	// End is called after the content of file i was written. The damage is ErrCorrupt, or nil if the content is what was coded; else what
	// was written is only a part of it, or is wrong. An error ends the extraction.
	End func(i int, damage error) error
}

// Extract decodes the files for which want is true, or all if it is nil, in the order of the stream. As many blocks as there are threads
// are decoded at a time; each is compared with its hash before any of it is written. Damage is given to the sink, and the other files are
// decoded all the same; the error is one of the sink, of reading the blocks, or of ctx.
func (z *Reader) Extract(ctx context.Context, want []bool, sink Sink) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &pass{z: z, queue: make(chan *decoded, z.o.Threads-1), current: &decoded{block: -1}}
	go p.decodeAhead(ctx, want)
	for at := range z.entries {
		if want == nil || want[z.entries[at].number] {
			if err := p.file(ctx, at, sink); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteFile writes the content of file i to w. An error of the stream is ErrCorrupt; then what was written is only a part of the file, or
// is wrong.
func (z *Reader) WriteFile(ctx context.Context, w io.Writer, i int) error {
	want := make([]bool, z.Len())
	want[i] = true
	return z.Extract(ctx, want, Sink{
		Begin: func(int) (io.Writer, error) { return w, nil },
		End:   func(_ int, damage error) error { return damage },
	})
}

// decoded is a block that is being decoded, until ready is closed.
type decoded struct {
	block int
	text  []byte
	err   error
	ready chan struct{}
}

// pass is the state of Extract.
type pass struct {
	z       *Reader
	queue   chan *decoded // blocks that are needed, in the order of the stream
	current *decoded
}

// decodeAhead decodes the blocks of the files that are wanted.
func (p *pass) decodeAhead(ctx context.Context, want []bool) {
	defer close(p.queue)
	next := 0 // block
	for at, e := range p.z.entries {
		if want != nil && !want[e.number] {
			continue
		}
		from, to := p.z.blocksOf(at)
		for next = max(next, from); next < to; next++ {
			d := &decoded{block: next, ready: make(chan struct{})}
			select {
			case p.queue <- d:
			case <-ctx.Done():
				return
			}
			decode := func() {
				d.text, d.err = p.z.decode(d.block)
				close(d.ready)
			}
			if p.z.o.Threads == 1 {
				decode()
			} else {
				go decode()
			}
		}
	}
}

// block returns a block that is needed. The blocks are asked for in ascending order, each once or several times in turn.
func (p *pass) block(ctx context.Context, b int) (*decoded, error) {
	for p.current.block != b {
		select {
		case d, ok := <-p.queue:
			if !ok {
				return nil, context.Cause(ctx)
			}
			p.current = d
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	select {
	case <-p.current.ready:
		return p.current, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// file gives a file to the sink.
func (p *pass) file(ctx context.Context, at int, sink Sink) error {
	z := p.z
	e := &z.entries[at]
	w, err := sink.Begin(e.number)
	if err != nil {
		return err
	}
	var damage error
	for b, to := z.blocksOf(at); b < to; b++ {
		d, err := p.block(ctx, b)
		if err != nil {
			return err
		}
		if d.err != nil {
			damage = d.err
			continue
		}
		start, end := z.part(at, b)
		if _, err := w.Write(d.text[start:end]); err != nil {
			return err
		}
	}
	return sink.End(e.number, damage)
}

// Changed returns the number of a file whose content is not what open gives, or is damaged, or -1 if there is none. It looks only at files
// with doubt and those in the same blocks, and decodes only a block that differs.
func (z *Reader) Changed(doubt []bool, open func(i int) (io.ReadCloser, error)) (int, error) {
	needed := make([]bool, len(z.blocks))
	for at, e := range z.entries {
		for b, to := z.blocksOf(at); b < to && doubt[e.number]; b++ {
			needed[b] = true
		}
	}
	var now []byte // of a block
	for at, e := range z.entries {
		b, to := z.blocksOf(at)
		if !slices.Contains(needed[b:to], true) {
			continue
		}
		f, err := open(e.number)
		for ; err == nil && b < to; b++ {
			start, end := z.part(at, b)
			if !needed[b] {
				_, err = io.CopyN(io.Discard, f, int64(end-start))
				continue
			}
			now = append(now, make([]byte, end-start)...)
			if _, err = io.ReadFull(f, now[start:]); err == nil && end == z.blocks[b].size {
				if xxh3.Hash(now) != z.blocks[b].hash {
					f.Close()
					return z.differing(b, now), nil
				}
				now = now[:0]
			}
		}
		if f != nil {
			f.Close()
		}
		if err != nil {
			return 0, err
		}
	}
	return -1, nil
}

// differing returns the number of the first file of a block that has other content now, or is damaged.
func (z *Reader) differing(b int, now []byte) int {
	text, _ := z.decode(b) // nil if it is damaged
	same := 0
	for same < len(text)-1 && text[same] == now[same] {
		same++
	}
	at := sort.Search(len(z.starts), func(at int) bool { return z.starts[at] > z.blocks[b].start+int64(same) }) - 1
	return z.entries[at].number
}

// Check compares the blocks with the hashes of what is stored, and decodes nothing. damage has an error for each file, nil for those
// that are whole; Options.Coded is told how many bytes were read.
func (z *Reader) Check(ctx context.Context) (damage []error, err error) {
	errs := make([]error, len(z.blocks))
	tasks.Each(len(z.blocks), z.o.Threads, func(_, b int) {
		if ctx.Err() == nil {
			_, errs[b] = z.coded(b)
			z.o.Coded(z.blocks[b].coded)
		}
	})
	damage = make([]error, len(z.entries))
	for at, e := range z.entries {
		for b, to := z.blocksOf(at); b < to; b++ {
			if errs[b] != nil {
				damage[e.number] = errs[b]
			}
		}
	}
	return damage, ctx.Err()
}
