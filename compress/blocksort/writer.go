package blocksort

import (
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
)

// An Option changes how a Writer or Reader works.
type Option func(*options) error

type options struct {
	blockSize int
	threads   int
	device    Device
	note      func(line string)
}

func newOptions(blockSize int, list []Option) (options, error) {
	o := options{blockSize: blockSize, threads: runtime.GOMAXPROCS(0)}
	for _, option := range list {
		if err := option(&o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// WithBlockSize sets how many bytes a Writer transforms at a time, or how large the blocks may be that a Reader accepts: 1 to MaxBlockSize.
// The defaults are DefaultBlockSize and MaxBlockSize. Larger blocks compress better. Memory is bounded by the block size, whatever the
// length of the text: a Writer of blocks of more than 4 MiB has about 18 times that in use, of which 11 are for the transform of one block
// at a time, and a Reader 8 times; beside it are 5 MB of models for each thread, and what Go's garbage collector leaves (by default it lets
// memory grow to twice what is in use).
func WithBlockSize(n int) Option {
	return func(o *options) error {
		if n < 1 || n > MaxBlockSize {
			return fmt.Errorf("blocksort: a block size of %d is not in 1..%d", n, MaxBlockSize)
		}
		o.blockSize = n
		return nil
	}
}

// WithThreads sets how many threads work at a time, at least 1. The default is GOMAXPROCS. The stream does not depend on it.
func WithThreads(n int) Option {
	return func(o *options) error {
		if n < 1 {
			return fmt.Errorf("blocksort: %d threads", n)
		}
		o.threads = n
		return nil
	}
}

// smallBlock is up to which size blocks are coded side by side rather than each by all threads.
const smallBlock = 4 << 20

// Writer compresses what is written to it. Close completes the stream.
type Writer struct {
	options
	block   []byte // not coded yet
	index   uint64
	slots   chan struct{}    // one for each block that is being coded or waits to be written
	queue   chan chan []byte // blocks in their order
	written chan error       // the result of writing them
	failed  chan struct{}    // closed when writing failed
	texts   chan []byte      // memory of blocks that are coded
	err     error
	spaces  spaces
}

// NewWriter returns a Writer that writes a stream to w. It starts goroutines, which Close ends.
func NewWriter(w io.Writer, list ...Option) (*Writer, error) {
	o, err := newOptions(DefaultBlockSize, list)
	if err != nil {
		return nil, err
	}
	inFlight := 2 // while one is transformed, the other is coded
	if o.blockSize <= smallBlock {
		inFlight = o.threads + 1
	}
	z := &Writer{options: o, slots: make(chan struct{}, inFlight), queue: make(chan chan []byte, inFlight),
		written: make(chan error, 1), failed: make(chan struct{}), texts: make(chan []byte, inFlight)}
	if err := z.spaces.openDevice(&z.options); err != nil {
		return nil, err
	}
	go z.drain(w, z.queue)
	return z, nil
}

// drain writes coded blocks in their order.
func (z *Writer) drain(w io.Writer, queue <-chan chan []byte) {
	_, err := w.Write(magic[:])
	if err != nil {
		close(z.failed)
	}
	for block := range queue {
		b := <-block
		if err == nil {
			if _, err = w.Write(b); err != nil {
				close(z.failed)
			}
		}
		<-z.slots
	}
	z.written <- err
}

// Write compresses p. An error of the underlying writer may be returned by a later Write or by Close.
func (z *Writer) Write(p []byte) (int, error) {
	n := 0
	for len(p) > 0 {
		if z.err != nil {
			return n, z.err
		}
		k := min(len(p), z.blockSize-len(z.block))
		z.block = append(z.block, p[:k]...)
		n, p = n+k, p[k:]
		if len(z.block) == z.blockSize {
			z.submit()
		}
	}
	return n, z.err
}

// submit has the block coded.
func (z *Writer) submit() {
	select {
	case <-z.failed:
		z.finish()
		return
	case z.slots <- struct{}{}:
	}
	text, index, threads := z.block, z.index, z.threads
	if len(text) <= smallBlock && z.blockSize <= smallBlock {
		threads = 1
	}
	z.index++
	select {
	case b := <-z.texts:
		z.block = b[:0]
	default:
		z.block = make([]byte, 0, len(text))
	}
	done := make(chan []byte, 1)
	z.queue <- done
	go func() {
		s := z.spaces.get()
		block := s.appendBlock(nil, text, index, threads)
		z.spaces.put(s)
		select {
		case z.texts <- text:
		default:
		}
		done <- block
	}()
}

// finish waits until all blocks are written and keeps the error.
func (z *Writer) finish() {
	close(z.queue)
	z.queue, z.block = nil, nil
	z.err = <-z.written
	if err := z.spaces.close(); z.err == nil {
		z.err = err
	}
	if z.err == nil {
		z.err = ErrClosed
	}
}

// Close writes what is left and the end of the stream. It does not close the underlying writer.
func (z *Writer) Close() error {
	if z.err != nil {
		if z.err == ErrClosed {
			return nil
		}
		return z.err
	}
	if len(z.block) > 0 {
		z.submit()
	}
	if z.err != nil {
		return z.err
	}
	z.slots <- struct{}{}
	end := make(chan []byte, 1)
	end <- binary.AppendUvarint(nil, 0)
	z.queue <- end
	if z.finish(); z.err != ErrClosed {
		return z.err
	}
	return nil
}
