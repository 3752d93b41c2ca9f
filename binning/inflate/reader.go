package inflate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// Options say how much a Reader may use. Its text does not depend on them.
type Options struct {
	// Threads is how many tasks run side by side at most. 0 is 1.
	Threads int
	// Memory is how many bytes the buffers may take together. It is a bound where it is
	// MinMemory or more; 0 is DefaultMemory of that many threads.
	Memory int
	// Offset is where the input begins in the file, for errors.
	Offset uint64
	// chunk is how many bytes of input a task begins with; 0: as Memory allows.
	chunk int
}

const (
	// MinMemory is the least memory that a Reader takes, in bytes: less is raised to it.
	MinMemory = 3 << 19

	leastChunk  = 32 << 10
	aheadChunk  = 128 << 10 // the least where it pays to look for places to begin at
	usualChunk  = 256 << 10
	usualRatio  = 5 // of text to input
	memoryChunk = 1 + 2*(usualRatio+1)
)

// DefaultMemory returns how much memory so many threads can make use of, in bytes.
func DefaultMemory(threads int) int {
	return max(MinMemory, (window(threads)+1)*memoryChunk*usualChunk)
}

// window is how many segments are in work at a time, or wait for those before them.
func window(threads int) int { return threads + threads/2 + 1 }

// GarbageError says that there are other bytes behind the compressed data.
type GarbageError struct {
	Offset uint64 // in the input
	Found  byte   // there
}

func (e *GarbageError) Error() string {
	return fmt.Sprintf("inflate: garbage behind the data, at offset %d", e.Offset)
}

var (
	errNowhere = errors.New("inflate: no place to begin")
	errQuit    = errors.New("inflate: stopped")
	errClosed  = errors.New("inflate: the reader is closed")
)

// Reader inflates gzip: one member or several, those of BGZF among them, and zero bytes
// behind them. One goroutine at a time may use it. It has goroutines of its own only while it
// is being read, and until the tasks that were started then are done.
type Reader struct {
	// speculative is set if gzip is decoded ahead of the chain.
	speculative bool
	most        int   // segments in work
	chunk       int   // bytes of input in a segment, but for the first few
	late        int64 // lateStart, but for tests
	offset      uint64
	slots       chan struct{}
	events      chan event
	tasks       sync.WaitGroup
	quit        atomic.Bool
	over        chan struct{} // closed when events are of no interest any longer

	ctx context.Context

	fetcher  *fetcher
	fetching bool
	fetched  int  // segments
	whole    bool // the last one was fetched

	// Segments from the one that the chain is at on, with the tasks that began there.
	segs  []*segment
	spans []*span
	want  int // segments that the chain needs

	chain   chain
	running *span   // the task that goes on from the chain's end
	queue   []*span // decoded, in order; not all of them complete
	taken   int64   // bytes of text that were handed out
	end     int64   // of the input that they are in

	ratio int // bytes of text for 16 bytes of input, about
	free  []*work
	pool  buffers

	// The member that the reader is in.
	crc, size uint32

	stats stats

	pieces  []*Piece
	rest    []byte // of current, for Read
	current *Piece
	err     error // behind everything
}

// stats say how the text was made.
type stats struct {
	accepted, discarded int // speculative tasks
	direct              int // other ones
	wide                int // bytes of text that were symbols first
}

// chain is the end of what is decoded without a gap from the beginning on.
type chain struct {
	at       int64 // bit
	phase    phase
	d        *decoder
	window   []byte
	streamAt int64
	// A file of BGZF ends with an empty member.
	otherGzip bool  // some member is not one of BGZF
	textLast  bool  // the last member that has ended has text
	pad       bool  // zero bytes have started
	err       error // what comes next
	done      bool
}

// event says that a task is done, or a segment there.
type event struct {
	span *span
	seg  *segment
	idle bool // nothing is being fetched any longer
}

// NewReader returns a reader of in, which begins with gzip data. When ctx ends, Next returns
// its error, even while in waits. A goroutine of the reader reads from in, which Close does not
// wait for. The reader must be closed.
func NewReader(ctx context.Context, in io.Reader, o Options) *Reader {
	threads := max(o.Threads, 1)
	memory := max(o.Memory, MinMemory)
	if o.Memory == 0 {
		memory = DefaultMemory(threads)
	}
	z := &Reader{ctx: ctx, offset: o.Offset, chunk: o.chunk, ratio: 16 * usualRatio, most: 2, speculative: threads > 1}
	switch most := memory/(memoryChunk*aheadChunk) - 1; {
	case z.chunk > 0:
		z.most = window(threads)
	case threads > 1 && most >= 3:
		z.most = min(window(threads), most)
		z.chunk = min(usualChunk, memory/((z.most+1)*memoryChunk))
	default:
		z.speculative = false
		z.chunk = min(aheadChunk, max(leastChunk, memory/(4*memoryChunk)))
	}
	if o.chunk == 0 {
		z.late = lateStart
	}
	z.chunk = max(z.chunk, 2*overlap)
	z.slots = make(chan struct{}, threads)
	z.events = make(chan event, 4*z.most)
	z.over = make(chan struct{})
	z.pool.most = memory
	z.fetcher = &fetcher{in: in}
	z.chain = chain{d: newDecoder(), window: make([]byte, 0, windowSize)}
	return z
}

// Close ends the reader's tasks and waits for them. Pieces that were not released must not be
// used any longer.
func (z *Reader) Close() error {
	z.finish()
	z.tasks.Wait()
	if z.err == nil {
		z.err = errClosed
	}
	z.pieces, z.queue, z.rest = nil, nil, nil
	return nil
}

// Extent returns how many bytes of text are in so many first bytes of the input. It is ahead of Next by no more than what one task
// decodes.
func (z *Reader) Extent() (text, input uint64) { return uint64(z.taken), uint64(z.end) }

// Piece is a part of the text.
type Piece struct {
	Text []byte
	span *span
	z    *Reader
}

// Release says that Text is not used any longer. Any goroutine may call it, once.
func (p *Piece) Release() {
	if atomic.AddInt32(&p.span.parts, -1) == 0 {
		p.z.pool.put(p.span.buf)
	}
}

// Next returns the next piece of the text, which is not empty and must be released. At the
// end the error is io.EOF. Other errors are those of the input, ErrHeader, ErrChecksum,
// ErrBGZFEnd, a CorruptError or GarbageError, and io.ErrUnexpectedEOF; they come behind the
// text before the damage.
func (z *Reader) Next() (*Piece, error) {
	for len(z.pieces) == 0 {
		if z.err != nil {
			return nil, z.err
		}
		if err := z.ctx.Err(); err != nil {
			return nil, err
		}
		z.drain()
		z.advance()
		if len(z.queue) > 0 && z.queue[0].ready {
			z.pop()
			continue
		}
		if len(z.queue) == 0 && z.chain.done {
			z.err = z.chain.err
			z.finish()
			continue
		}
		select {
		case e := <-z.events:
			z.handle(e)
		case <-z.ctx.Done():
			return nil, z.ctx.Err()
		}
	}
	p := z.pieces[0]
	z.pieces = z.pieces[1:]
	return p, nil
}

// Read implements io.Reader.
func (z *Reader) Read(p []byte) (int, error) {
	for len(z.rest) == 0 {
		if z.current != nil {
			z.current.Release()
			z.current = nil
		}
		piece, err := z.Next()
		if err != nil {
			return 0, err
		}
		z.current, z.rest = piece, piece.Text
	}
	n := copy(p, z.rest)
	z.rest = z.rest[n:]
	return n, nil
}

// finish frees what is not needed behind the text.
func (z *Reader) finish() {
	if !z.quit.Swap(true) {
		close(z.over)
	}
	z.segs, z.spans, z.free = nil, nil, nil
	z.pool.drop()
}

// drain handles what has happened.
func (z *Reader) drain() {
	for {
		select {
		case e := <-z.events:
			z.handle(e)
		default:
			return
		}
	}
}
