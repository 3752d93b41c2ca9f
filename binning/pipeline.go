package binning

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/internal/tasks"
)

// run is a run in progress.
type run struct {
	*Config
	cancel   context.CancelFunc // ends the context that the stages have
	pool     *tasks.Pool        // shares the threads among the streams
	assigner Assigner
	out      *bins.Writer
	inputs   []*input
	read     []atomic.Uint64 // bytes of each input, as stored
	hashing  chan struct{}   // places for checksums of files
	total    uint64
	cut      atomic.Uint64 // bytes of text that are in blocks
	worked   atomic.Uint64 // of them: what is through the stages, half of it after assigning

	mates mates // used in block order
	bases uint64
	// blocks is how many there are so far.
	blocks int

	sinceGC uint64 // bytes of text since the garbage collector was called

	mu  sync.Mutex
	err error
}

// blockTask is a block on its way through the pipeline.
type blockTask struct {
	in            *input
	chunk         *chunk
	err           error
	filled        chan struct{} // closed when chunk or err is set
	earlierPlaced chan struct{} // closed when the block before has its place in the files
	placed        chan struct{} // closed when this one has
}

// pipeline runs everything between opening the inputs and committing the archive.
func (r *run) pipeline(ctx context.Context) error {
	buffers := make(chan struct{}, r.Streams) // has an element for each text that is in use
	items := make(chan *blockTask)
	var fills, assigning, streams sync.WaitGroup
	encoded := make([]bins.Encoded, r.Streams)
	for i := range r.Streams {
		streams.Go(func() {
			s := stream{encoded: &encoded[i]}
			for it := range items {
				r.process(ctx, it, &s, func() {
					<-buffers
					assigning.Done()
				})
			}
		})
	}
	turn := make(chan struct{})
	close(turn)
	for feed := newFeeder(r.inputs); ; {
		in := feed.next(ctx)
		if in == nil {
			break
		}
		select {
		case buffers <- struct{}{}:
		case <-ctx.Done():
		}
		if r.assigner.Admit(ctx); ctx.Err() != nil {
			break
		}
		it := &blockTask{in: in, filled: make(chan struct{}), earlierPlaced: turn, placed: make(chan struct{})}
		turn = it.placed
		in.last = it
		assigning.Add(1)
		fills.Go(func() {
			defer close(it.filled)
			r.fill(ctx, it)
		})
		items <- it
	}
	close(items)
	assigning.Wait()
	if r.failed() == nil && ctx.Err() == nil {
		if err := r.assigner.Finish(); err != nil {
			r.fail(err)
		}
	}
	streams.Wait()
	fills.Wait()
	if r.err == nil {
		r.err = ctx.Err()
	}
	if r.err == nil {
		r.err = r.mates.checkCounts(r.inputs)
	}
	return r.err
}

// fill reads the next block of an input.
func (r *run) fill(ctx context.Context, it *blockTask) {
	it.in.src.sums.begin(ctx, it.in.src, r.hashing)
	it.chunk, it.err = it.in.cutter.next(ctx, r.assigner)
	if it.err == nil {
		r.cut.Add(it.chunk.textLen)
	}
	if it.err == nil && !it.chunk.Last {
		it.in.records += uint64(it.chunk.records)
	}
	it.in.ended = it.err != nil || it.chunk.Last
}

// through notes that so many more bytes of text are through a stage.
func (r *run) through(n uint64) {
	r.worked.Add(n)
	r.progress()
}

// progress reports how far the run is, as a number of bytes of the inputs: half of those that were read count at once, and half by
// how much of the text that is in blocks is through the stages.
func (r *run) progress() {
	if r.Progress == nil {
		return
	}
	done := uint64(0)
	for i := range r.read {
		done += r.read[i].Load()
	}
	share := 0.0
	if cut := r.cut.Load(); cut > 0 {
		share = min(float64(r.worked.Load())/float64(cut), 1)
	}
	r.Progress(Stage, done/2+uint64(float64(done-done/2)*share), r.total)
}

// stream is the memory that a stream reuses for each of its blocks.
type stream struct {
	block   bins.Block
	encoded *bins.Encoded
	names   []uint64 // digests of the names of mates
}

// process assigns, encodes and writes a block. It calls releaseBuffer when the text is not needed
// any more.
func (r *run) process(ctx context.Context, it *blockTask, s *stream, releaseBuffer func()) {
	<-it.filled
	err := it.err
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		if err = r.assign(ctx, it, s); err == nil {
			r.through(it.chunk.textLen / 2)
		}
	}
	if it.chunk != nil {
		it.chunk.buffer.Free()
	}
	releaseBuffer()
	if err == nil {
		err = bins.EncodeBlock(s.encoded, &s.block, r.pool.Run)
	}
	<-it.earlierPlaced
	if err == nil && r.failed() == nil {
		err = r.mates.add(r.inputs, it.in, s, it.chunk.Last)
	}
	if err != nil {
		r.fail(&inputError{err, it.in.index})
	}
	write, collect := r.failed() == nil, false
	if write {
		r.out.Reserve(s.encoded)
		if r.sinceGC += it.chunk.textLen; r.sinceGC >= gcEvery {
			collect, r.sinceGC = true, 0
		}
		it.in.info.Bytes += it.chunk.textLen
		r.blocks++
		for _, bin := range s.block.Bins {
			r.bases += bin.Bases
		}
	}
	close(it.placed)
	if collect {
		runtime.GC() // which later blocks don't wait for
	}
	if write {
		if err := r.out.WriteReserved(s.encoded, r.pool.Run); err != nil {
			r.fail(err)
		}
		r.through(it.chunk.textLen - it.chunk.textLen/2)
		r.assigner.Written(&s.block)
	}
}

// gcEvery is after how many bytes of text the garbage collector is called. By itself it waits
// until there is as much garbage as memory in use, and nearly all of that is buffers: up to
// twice the memory that is needed would be used.
const gcEvery = 1 << 30

// fail ends the run with an error; the first one counts. Errors about the inputs come in block
// order, so that the first does not depend on which stream is faster.
func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
		r.cancel()
	}
}

// failed returns the error that ended the run, or nil.
func (r *run) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// keep returns the columns that the assigner has to fill. Names of mates are needed to compare
// them.
func (c *Config) keep() Keep {
	o := &c.Options
	k := Keep{
		Names: !o.ReadsOnly && !o.DropNames,
		Quals: !o.ReadsOnly && o.Quality != record.QualityDrop,
		Forms: !o.ReadsOnly,
		Bin8:  o.Quality == record.QualityBin8,

		Uncoded: c.uncoded,
	}
	for _, in := range c.Inputs {
		if in.hasMates() || in.Interleaved {
			k.PlainNames = true
		}
	}
	return k
}

// assign fills the stream's block from the text.
func (r *run) assign(ctx context.Context, it *blockTask, s *stream) error {
	t, b, o := it.chunk, &s.block, &r.Options
	t.Keep = r.keep()
	if err := r.assigner.Assign(ctx, &t.Text, b); err != nil {
		return err
	}
	b.Uncoded = t.Keep.Uncoded
	b.Input, b.FirstRecord, b.TextLen = it.in.index, t.FirstRecord, t.textLen
	if t.Canonical {
		b.TextHash, b.Forms = t.textHash, t.forms
		if o.ReadsOnly {
			b.Forms = record.Forms{}
		}
	}
	if !t.Last && b.Records != t.records {
		return fmt.Errorf("%s: block of %d records has become one of %d", t.File, t.records, b.Records)
	}
	s.names = s.names[:0]
	if it.in.spec.hasMates() {
		s.names = digests(s.names, b.Names)
	}
	if it.in.spec.Interleaved {
		if err := checkInterleaved(t.File, t.FirstRecord+1, b.Names); err != nil {
			return err
		}
	}
	if o.ReadsOnly || o.DropNames {
		b.Names, b.CodedNames = nil, nil
	}
	return nil
}
