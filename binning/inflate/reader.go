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
	threads int
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

	ended   chan struct{} // closed when the context has ended
	reason  error         // why; set before that
	release func() bool   // of the context

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
	bgzfOpen bool  // the last member was one of BGZF, and not empty
	pad      bool  // zero bytes have started
	err      error // what comes next
	done     bool
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
	z := &Reader{offset: o.Offset, chunk: o.chunk, ratio: 16 * usualRatio, threads: threads, most: 2, speculative: threads > 1}
	switch most := memory/(memoryChunk*aheadChunk) - 1; {
	case z.chunk > 0:
		z.most = window(threads)
	case threads > 1 && most >= 3:
		z.most = min(window(threads), most)
		z.chunk = min(usualChunk, memory/((z.most+1)*memoryChunk))
	default:
		z.speculative = false
		z.chunk = min(aheadChunk, max(leastChunk, memory/(4*memoryChunk)))
		if threads > 1 {
			z.most = max(2, min(window(threads), memory/(memoryChunk*z.chunk)-1)) // for BGZF
		}
	}
	if o.chunk == 0 {
		z.late = lateStart
	}
	z.chunk = max(z.chunk, 2*overlap)
	z.slots = make(chan struct{}, threads)
	z.events = make(chan event, 4*z.most)
	z.over, z.ended = make(chan struct{}), make(chan struct{})
	z.release = context.AfterFunc(ctx, func() {
		z.reason = ctx.Err()
		close(z.ended)
	})
	z.pool.most = memory
	z.fetcher = &fetcher{in: in, most: 4 * usualRatio * z.chunk}
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
		select {
		case <-z.ended:
			return nil, z.reason
		default:
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
		case <-z.ended:
			return nil, z.reason
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

// WriteTo implements io.WriterTo.
func (z *Reader) WriteTo(w io.Writer) (int64, error) {
	total := int64(0)
	write := func(p []byte) error {
		n, err := w.Write(p)
		total += int64(n)
		return err
	}
	if z.current != nil {
		err := write(z.rest)
		z.current.Release()
		z.current, z.rest = nil, nil
		if err != nil {
			return total, err
		}
	}
	for {
		piece, err := z.Next()
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		err = write(piece.Text)
		piece.Release()
		if err != nil {
			return total, err
		}
	}
}

// finish frees what is not needed behind the text.
func (z *Reader) finish() {
	if !z.quit.Swap(true) {
		close(z.over)
		z.release()
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

func (z *Reader) handle(e event) {
	switch {
	case e.idle:
		z.fetching = false
	case e.seg != nil:
		e.seg.users = 1
		z.segs = append(z.segs, e.seg)
		z.spans = append(z.spans, nil)
		z.whole = e.seg.last || e.seg.cut != nil
	default:
		s := e.span
		if s.done {
			s.ready = true // finished
			return
		}
		s.done = true
		for _, seg := range s.segs {
			z.leave(seg)
		}
		switch {
		case s.dropped:
			z.recycle(s)
		case s == z.running:
			z.running = nil
			z.extend(s)
			s.ready = true
		case s.segs[0].bgzf:
			s.ready = true
		}
	}
}

// leave notes that a segment is used by one less.
func (z *Reader) leave(seg *segment) {
	if seg.users--; seg.users == 0 {
		z.pool.put(seg.buf[:cap(seg.buf)])
		seg.buf = nil
	}
}

// recycle frees a span whose text nobody wants.
func (z *Reader) recycle(s *span) {
	z.pool.put(s.buf)
	s.buf = nil
	z.retire(s)
}

// retire takes back what a task needed.
func (z *Reader) retire(s *span) {
	s.d.in, s.d.out = nil, nil
	z.free = append(z.free, s.work)
	s.work = nil
}

// advance begins whatever can be started.
func (z *Reader) advance() {
	if z.quit.Load() {
		return
	}
	z.fetch()
	for z.running == nil && !z.chain.done && len(z.queue) < 2*z.most && z.step() {
	}
	z.fetch()
	z.speculate()
}

// lateStart is how many bytes of text are decoded one segment after another at first, since
// many inputs may be opened long before they are read.
const lateStart = 4 << 20

// ahead is how many segments may be in work now.
func (z *Reader) ahead() int {
	if z.taken >= z.late {
		return z.most
	}
	return 2
}

// fetch begins to read segments.
func (z *Reader) fetch() {
	n := max(z.ahead()+1, z.want) - len(z.segs)
	if z.fetching || z.whole || n <= 0 || z.quit.Load() {
		return
	}
	type order struct {
		buf []byte
		seg *segment
	}
	var orders []order
	for range n {
		own := z.chunk
		if k := z.fetched + len(orders) - 8; z.late > 0 && k < 8 {
			own = min(own, leastChunk<<max(k, 0)) // see lateStart
		}
		size := z.fetcher.room(own)
		// What the chain needs it gets, whatever the bound.
		buf := z.pool.get(size, len(z.segs)+len(orders) < max(2, z.want))
		if buf == nil {
			break
		}
		orders = append(orders, order{buf, new(segment)})
	}
	if len(orders) == 0 {
		return
	}
	z.fetched += len(orders)
	z.fetching = true
	go func() {
		ended := false
		for _, o := range orders {
			if ended || z.quit.Load() {
				z.pool.put(o.buf)
				continue
			}
			z.fetcher.next(o.buf, o.seg)
			ended = o.seg.last || o.seg.cut != nil
			z.tell(event{seg: o.seg})
		}
		z.tell(event{idle: true})
	}()
}

// begin starts a task of a span. Unless it is urgent it waits for one of the threads.
func (z *Reader) begin(s *span, task func(), urgent bool) {
	z.tasks.Add(1)
	go func() {
		defer z.tasks.Done()
		if urgent {
			task()
		} else {
			z.slots <- struct{}{}
			task()
			<-z.slots
		}
		z.tell(event{span: s})
	}()
}

// tell reports an event.
func (z *Reader) tell(e event) {
	select {
	case z.events <- e:
	case <-z.over:
	}
}

// newSpan returns a span that begins in the first of some segments.
func (z *Reader) newSpan(segs []*segment) *span {
	s := new(span)
	if n := len(z.free); n > 0 {
		s.work = z.free[n-1]
		z.free = z.free[:n-1]
	} else {
		s.work = &work{d: newDecoder()}
	}
	s.d.quit, s.quit = &z.quit, &z.quit
	s.segs = append([]*segment(nil), segs...)
	for _, seg := range segs {
		seg.users++
	}
	return s
}

// speculate begins tasks for the segments behind the chain.
func (z *Reader) speculate() {
	waiting := len(z.queue)
	for i, seg := range z.segs {
		if waiting >= z.ahead() {
			return
		}
		if z.spans[i] != nil {
			waiting++
			continue
		}
		if seg.bgzf {
			buf := z.pool.get(seg.text+1+slack, i == 0)
			if buf == nil {
				return
			}
			s := z.newSpan(z.segs[i : i+1])
			s.buf = buf
			z.spans[i] = s
			z.begin(s, s.run, false)
			waiting++
			continue
		}
		if i == 0 || !z.speculative {
			if z.running != nil {
				waiting++
			}
			continue
		}
		if i+1 == len(z.segs) && !seg.last {
			return
		}
		text := z.chunk * z.ratio / 16
		buf := z.pool.get(2*(windowSize+text+text/8)+slack, false)
		if buf == nil {
			return
		}
		s := z.newSpan(z.segs[i:min(i+2, len(z.segs))])
		s.speculative, s.buf, s.stop, s.grow = true, buf, seg.end()*8, z.pool.grow
		z.spans[i] = s
		z.begin(s, s.run, false)
		waiting++
	}
}

// step takes the chain on: by what a task has found, or a task of its own. It returns false
// if it must wait.
func (z *Reader) step() bool {
	c := &z.chain
	if c.err != nil {
		c.done = true
		return true
	}
	for len(z.segs) > 0 && c.at >= z.segs[0].end()*8 && !z.segs[0].last && z.segs[0].cut == nil {
		z.drop()
	}
	if len(z.segs) == 0 {
		return false
	}
	seg, s := z.segs[0], z.spans[0]
	if seg.bgzf {
		if s == nil {
			return false // speculate begins it
		}
		c.at, c.phase, c.err = seg.end()*8, behind, seg.cut
		c.bgzfOpen = c.bgzfOpen && seg.own == 0 || seg.own > 0 && !seg.empty
		z.queue = append(z.queue, s)
		z.spans[0] = nil
		return true
	}
	if len(z.segs) < 2 && !seg.last {
		return false
	}
	if c.phase == atFirst || c.phase == behind {
		if ok, wait := z.member(); !ok {
			return !wait
		}
	}
	stop := seg.end() * 8
	if s != nil {
		if !s.done {
			return false
		}
		if s.err != nil || s.from < c.at {
			z.discard()
		} else if s.from > c.at {
			stop = s.from
		} else if z.accept(s) {
			return true
		} else {
			z.discard()
		}
	}
	z.direct(stop)
	return false
}

// drop leaves the first segment behind.
func (z *Reader) drop() {
	z.discard()
	z.leave(z.segs[0])
	z.segs[0] = nil
	z.segs, z.spans = z.segs[1:], z.spans[1:]
}

// discard gives up what was started in the first segment.
func (z *Reader) discard() {
	s := z.spans[0]
	if s == nil {
		return
	}
	z.spans[0] = nil
	z.stats.discarded++
	if s.done {
		z.recycle(s)
	} else {
		s.dropped = true
	}
}

// member looks at what is where a member may begin. It returns true if one does, else
// whether more of the input is needed to tell; if not, the chain has moved.
func (z *Reader) member() (ok, wait bool) {
	c := &z.chain
	seg := z.segs[0]
	head := seg.buf[c.at/8-seg.at:]
	if c.phase == behind && (c.pad || len(head) == 0 || head[0] != 0x1f || len(head) > 1 && head[1] != 0x8b) {
		for i, b := range seg.buf[c.at/8-seg.at : seg.own] {
			if b != 0 {
				c.err = &GarbageError{z.offset + uint64(c.at/8) + uint64(i), b}
				return false, false
			}
		}
		c.pad = c.pad || len(head) > 0
		c.at = seg.end() * 8
		if seg.last {
			switch c.err = io.EOF; {
			case seg.err != nil:
				c.err = seg.err
			case c.bgzfOpen:
				c.err = ErrBGZFEnd
			}
		}
		return false, false
	}
	// The header may be longer than what this segment has of it.
	end := seg
	for k := 1; ; k++ {
		n, err := headerSize(head)
		if err == nil {
			if k > 1 {
				z.enter(c.at/8 + int64(n))
			}
			z.want = 0
			return k == 1, false
		}
		if err != errShort {
			c.err = err
			return false, false
		}
		if end.last {
			if c.err = io.ErrUnexpectedEOF; end.err != nil {
				c.err = end.err
			}
			return false, false
		}
		if k >= len(z.segs) {
			z.want = k + 2
			return false, true
		}
		end = z.segs[k]
		have := int64(len(head)) + c.at/8 - end.at
		head = append(head[:len(head):len(head)], end.buf[have:]...)
	}
}

// enter moves the chain to the deflate stream of a member, at a byte.
func (z *Reader) enter(at int64) {
	c := &z.chain
	c.at, c.streamAt, c.phase, c.bgzfOpen, c.window = at*8, at, inDeflate, false, c.window[:0]
	c.d.reset(nil, 0)
}

// accept takes what a task found as what comes next, if it is.
func (z *Reader) accept(s *span) bool {
	c := &z.chain
	if s.member {
		if c.phase != behind {
			return false
		}
	} else if c.phase != inDeflate || c.d.place != atBlock {
		return false
	}
	wide := (s.d.wideEnd - s.textAt) / 2
	if wide > 0 {
		if len(c.window) < windowSize && !known(s.buf, s.textAt, wide, len(c.window)) {
			return false // before the member's beginning
		}
		s.before.set(c.window)
	}
	z.spans[0] = nil
	z.stats.accepted++
	z.stats.wide += wide
	z.extend(s)
	if wide > 0 {
		z.begin(s, s.finish, true)
	} else {
		s.ready = true
	}
	return true
}

// extend moves the chain to the end of a span.
func (z *Reader) extend(s *span) {
	c := &z.chain
	c.at, c.phase, c.err = s.to, s.phase, s.err
	var next [windowSize]byte
	c.window = append(c.window[:0], s.window(next[:], c.window)...)
	if s.reset {
		c.streamAt, c.bgzfOpen = s.streamAt, false
	} else if s.speculative {
		s.d.drift += c.d.drift
	}
	z.queue = append(z.queue, s)
	if s.speculative && !s.full && len(s.ends) == 0 {
		// Room for a little more than the last segments had.
		if in := int(s.to-s.from) / 8; in > z.chunk/4 {
			z.ratio = (z.ratio*3 + s.length()*16/in + 3) / 4
		}
	}
	// The span's decoder is where the next one goes on, unless the span has still to be
	// finished: then a copy of its state is.
	c.d.follow(s.d)
}

// follow makes d go on where o stopped.
func (d *decoder) follow(o *decoder) {
	d.place, d.final, d.stored, d.ahead, d.drift = o.place, o.final, o.stored, o.ahead, o.drift
	if d.t = o.t; o.t == o.own && o.place == inCodes {
		*d.own = *o.own
		d.t = d.own
	}
}

// direct begins a task that goes on from the chain's end.
func (z *Reader) direct(stop int64) {
	c := &z.chain
	// Room for the text of a segment; what has more text is decoded in several tasks.
	own := min(z.chunk, max(z.segs[0].own, leastChunk))
	text := own*z.ratio/16 + own/2
	buf := z.pool.get(windowSize+text+slack, len(z.queue) == 0)
	if buf == nil {
		return // till some text has been taken
	}
	s := z.newSpan(z.segs[:min(2, len(z.segs))])
	s.buf = buf
	s.from, s.stop, s.phase, s.streamAt = c.at, stop, c.phase, c.streamAt
	s.d.blocks = 0
	s.d.follow(c.d)
	copy(s.buf[windowSize-len(c.window):], c.window)
	s.d.low, s.d.n = windowSize-len(c.window), windowSize
	z.running = s
	z.stats.direct++
	z.begin(s, s.run, true)
}

// pop hands out the first span's text.
func (z *Reader) pop() {
	s := z.queue[0]
	z.queue[0] = nil
	z.queue = z.queue[1:]
	first, second := s.sections()
	length := len(first) + len(second)
	if s.segs[0].bgzf {
		if s.err != nil {
			z.err = s.err
		}
	} else {
		from := 0
		for i, sum := range s.sums {
			to := length
			if i < len(s.ends) {
				to = s.ends[i].at
			}
			z.crc = combineCRC(z.crc, sum, to-from)
			z.size += uint32(to - from)
			from = to
			if i == len(s.ends) {
				break
			}
			if e := s.ends[i]; e.crc != z.crc || e.size != z.size {
				// What is behind is of no use.
				z.err = ErrChecksum
				first, second = first[:min(to, len(first))], second[:max(0, to-len(first))]
				break
			}
			z.crc, z.size = 0, 0
		}
	}
	z.pieces = z.pieces[:0]
	for _, text := range [][]byte{first, second} {
		if len(text) > 0 {
			z.taken += int64(len(text))
			z.pieces = append(z.pieces, &Piece{text, s, z})
		}
	}
	z.retire(s)
	if s.parts = int32(len(z.pieces)); s.parts == 0 {
		z.pool.put(s.buf)
	}
	if z.err != nil {
		z.finish()
	}
}
