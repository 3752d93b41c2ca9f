package seqs

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"orcomgo/bins"
	"orcomgo/compress/basemodel"
	"orcomgo/compress/longreads"
	"orcomgo/compress/overlap"
)

// Config has the options of Build.
type Config struct {
	Threads int // at least 1
	// Memory bounds the memory of the whole process, in bytes and roughly; 0 is no bound. Reads that do not fit in it together are laid
	// out in shares of their signatures and coded in parts, one after another.
	Memory uint64
	// Skip says of each input whether its reads are left out: EncodeSlice is not called for them. nil: none are.
	Skip     []bool
	Runs     bool                                   // slices hold the records of whole runs in the order of Sorted: see Column.Run
	Progress func(stage string, done, total uint64) // may be nil
	Repeats  bool                                   // of a Decoder: the second shared section is that of repeats
	Decoded  func(bases int)                        // of a Decoder: told how many more bases of the pseudogenome are decoded; may be nil
	// GPU and Note are those of overlap.Config.
	GPU  bool
	Note func(line string)
	// ReleaseWhile, if not nil, must call its argument, which waits for other goroutines. A caller that bounds the number of
	// computations at a time can start another one until the argument returns.
	ReleaseWhile func(wait func())
	// Work, if not nil, must call its argument, unless ctx ends first, and return its error. A caller that bounds the number of
	// computations at a time can wait for one to end before that. Digest calls it for what it computes.
	Work func(ctx context.Context, f func() error) error
	// Hold, if not nil, is called when goroutines start that compute without Work. A caller that bounds the number of computations at a
	// time can start up to n fewer until the channel is closed. It must not wait.
	Hold func(ctx context.Context, n int, until <-chan struct{})

	// Tests set smaller sizes than the constants of these names; 0: those.
	maxLayoutRecords   uint64
	digestReads        uint32
	lanesFrom          int
	exceptionMarkEvery int
}

// releaseWhile returns c.ReleaseWhile, or a function that only waits.
func (c Config) releaseWhile() func(wait func()) {
	if c.ReleaseWhile == nil {
		return func(wait func()) { wait() }
	}
	return c.ReleaseWhile
}

// work returns c.Work, or a function that only calls its argument.
func (c Config) work() func(ctx context.Context, f func() error) error {
	if c.Work == nil {
		return func(_ context.Context, f func() error) error { return f() }
	}
	return c.Work
}

// hold calls c.Hold for a part of the threads, so that the coders of the pseudogenome, for which all slices wait in the end, are not slowed
// down by other work. They are `coders` at most.
func (c Config) hold(ctx context.Context, coders int, until <-chan struct{}) {
	if c.Hold != nil {
		c.Hold(ctx, min(coders, c.Threads*3/8), until)
	}
}

// holdForDecoding is hold until a sequence is decoded.
func (c Config) holdForDecoding(ctx context.Context, s *basemodel.Sequence) {
	if c.Hold == nil {
		return
	}
	decoded := make(chan struct{})
	c.hold(ctx, s.Segments(), decoded)
	go func() {
		s.Model() // which returns at the end
		close(decoded)
	}()
}

// Encoder codes the sequences of an archive, slice by slice.
type Encoder struct {
	bins  *bins.Reader
	cfg   Config
	parts []*part

	overlap overlap.Config        // how the reads are laid out
	genome  *overlap.Pseudogenome // nil until the first slice is coded
	coded   chan struct{}         // closed when the pseudogenome is coded; nil until this begins
	section []byte                // the pseudogenome, coded
	model   *basemodel.Model      // the model for literals, which has learnt the first bases of the pseudogenome; nil until they are coded
	modeled chan struct{}         // closed when model is set; nil until coding begins
	// shared is the sequence that long reads share; nil if there is none. It is the pseudogenome from base sharedFrom on.
	shared     *longreads.Sequence
	sharedFrom uint64
	repeats    *repeatCoder   // what repeats in that; nil if nothing does
	follow     *Decoder       // see Follow; mostly nil
	trees      sync.WaitGroup // of goroutines that code the trees of parts

	idle     chan struct{} // see Idle
	idleOnce sync.Once

	// window, if not 0, is how many records of a run are in memory together.
	window int

	mu      sync.Mutex
	done    *sync.Cond
	current loaded // what is in memory
	users   int    // EncodeSlice and Sorted calls that use it
	err     error
}

// loaded identifies the reads that are in memory together: those of a part, or of a window of a run.
type loaded struct {
	part   int // -1 for none
	input  int
	from   uint64
	window int
}

// Build returns an Encoder. It lays out the reads at once, and codes the pseudogenome, only if memory is tight (see plan); otherwise that
// is done when the first slice is coded, side by side with other columns of that slice.
func Build(ctx context.Context, r *bins.Reader, c Config) (*Encoder, error) {
	if c.Threads < 1 {
		return nil, fmt.Errorf("seqs: %d threads", c.Threads)
	}
	e := &Encoder{bins: r, cfg: c, current: loaded{part: -1}, idle: make(chan struct{})}
	e.done = sync.NewCond(&e.mu)
	if !c.GPU {
		e.idleOnce.Do(func() { close(e.idle) })
	}
	if tight := e.plan(); tight {
		if err := e.build(ctx); err != nil {
			e.Close()
			return nil, err
		}
	}
	return e, nil
}

// Follow returns a Decoder of the sections that Shared will return, which decodes them while they are coded. DecodeSlice may be called with
// a slice as soon as EncodeSlice has returned it, also after Close. In the end Check must be called. Follow must be called before the
// first EncodeSlice or Sorted. It returns nil where memory does not allow that: if not all reads are in memory together.
func (e *Encoder) Follow() *Decoder {
	if !e.overlap.Whole || e.genome != nil {
		return nil
	}
	e.follow = newDecoder(len(e.parts), e.cfg)
	return e.follow
}

// Idle returns a channel that is closed when other work should begin for which nothing of Encoder is needed: at once without a GPU, where
// all threads are busy from the beginning to the end; else when it begins to join contigs, while most threads have little to do. It may
// never be closed, if the reads are not laid out.
func (e *Encoder) Idle() <-chan struct{} { return e.idle }

// acquire loads reads into memory, where they are until release is called as often: those of a part, or the subset that only returns if
// it is not nil.
func (e *Encoder) acquire(ctx context.Context, want loaded, only func() *overlap.Subset) (*part, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.current != want && e.users > 0 {
		e.done.Wait()
	}
	if e.err != nil {
		return nil, e.err
	}
	p := e.parts[want.part]
	if e.current != want {
		if e.current.part >= 0 {
			e.parts[e.current.part].unload()
		}
		e.current = want
		var set *overlap.Subset
		if only != nil {
			set = only()
		}
		if err := e.load(ctx, want.part, set); err != nil {
			e.err = err
			return nil, err
		}
	}
	e.users++
	return p, nil
}

// release is called when the reads of an acquire are not used any more.
func (e *Encoder) release() {
	e.mu.Lock()
	e.users--
	e.mu.Unlock()
	e.done.Broadcast()
}

// CodingStage is the stage of Config.Progress that begins when the reads are laid out. It counts bases of the pseudogenome, without
// those that repeat others.
const CodingStage = "coding the pseudogenome"

// build lays out the reads, if that has not been done, and begins to code the pseudogenome.
func (e *Encoder) build(ctx context.Context) error {
	if e.genome != nil {
		return nil
	}
	var srcs []overlap.Source
	for _, p := range e.parts {
		if p.first+p.count <= cmp.Or(e.cfg.maxLayoutRecords, maxLayoutRecords) {
			srcs = append(srcs, p.sources...)
		}
	}
	var err error
	if e.genome, err = overlap.Build(ctx, e.bins, srcs, e.overlap); err != nil {
		return err
	}
	g := e.genome
	if err := e.shareLong(ctx); err != nil {
		return err
	}
	// Only slices with reads without a place wait, for the model.
	e.coded, e.modeled = make(chan struct{}), make(chan struct{})
	bases, source := g.Len, basemodel.Source(g.Stretch) // under the base model
	if e.repeats != nil {
		bases, source = e.repeats.bases, e.repeats.source
	}
	o := basemodel.Options{Threads: SegmentThreads(e.cfg.Threads, e.cfg.Memory)}
	if e.follow != nil {
		o.Threads = max(1, o.Threads/2) // decoding takes as many threads and models as coding does
	}
	e.cfg.hold(ctx, min(basemodel.Segments(bases), o.Threads), e.coded)
	if e.cfg.Progress != nil { // now, since slices are coded beside it
		e.cfg.Progress(CodingStage, 0, uint64(bases))
	}
	go func() {
		defer close(e.coded)
		var coded atomic.Int64
		o.Progress = func(n int) {
			if e.cfg.Progress != nil {
				e.cfg.Progress(CodingStage, uint64(coded.Add(int64(n))), uint64(bases))
			}
		}
		o.Model = func(m *basemodel.Model) {
			e.model = m
			close(e.modeled)
			if e.follow != nil {
				e.follow.modeled <- m
			}
		}
		if e.follow != nil {
			o.Follow = func(s *basemodel.Sequence) {
				e.cfg.holdForDecoding(ctx, s)
				e.follow.follow(s, e.repeats.bytes(), g.Packed)
			}
		}
		e.section = basemodel.Encode(bases, source, o)
	}()
	if SegmentThreads(2, e.cfg.Memory) < 2 {
		<-e.coded // there is too little memory for the model of a segment beside slices
	}
	return nil
}

// load loads the reads of part `want`, or only a subset, makes the tree of the part's positions, and begins to code it.
func (e *Encoder) load(ctx context.Context, want int, only *overlap.Subset) (err error) {
	p := e.parts[want]
	if err = e.build(ctx); err != nil {
		return err
	}
	if p.layout, err = e.genome.Layout(ctx, p.sources, p.first, only); err != nil {
		return err
	}
	l := p.layout
	records := int(p.count)
	if e.bins.Meta().Options.OrderAny {
		records = 0 // positions are not needed
	}
	var code *treeCode
	p.tree, code = newPositions(records, l.Len, e.cfg.Threads, func(record uint32) uint32 {
		pos, _ := l.Place(record)
		return pos
	})
	if p.coding {
		return ctx.Err()
	}
	p.coding = true
	e.trees.Go(func() { // slices need not wait for that
		c := encodeTo(nil)
		code.encode(c)
		p.shared = c.Enc.Finish()
		if e.follow != nil {
			go e.follow.setTree(want, p.shared)
		}
	})
	return ctx.Err()
}

// Shared returns the sections that the decoding of each slice needs: the pseudogenome, what repeats in it (if Repeats reports it), and the
// positions of each part. It must
// be called after the last EncodeSlice, and releases the layout.
func (e *Encoder) Shared() [][]byte {
	e.Close()
	if len(e.parts) == 0 {
		return nil
	}
	e.trees.Wait()
	s := [][]byte{e.section}
	if e.repeats != nil {
		s = append(s, e.repeats.section)
	}
	for _, p := range e.parts {
		s = append(s, p.shared)
	}
	return s
}

// Close releases the layout.
func (e *Encoder) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.parts {
		p.unload()
	}
	if e.coded != nil {
		<-e.coded
	}
	e.genome, e.model = nil, nil
	e.current = loaded{part: -1}
}
