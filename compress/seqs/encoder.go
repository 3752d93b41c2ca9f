package seqs

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"orcomgo/bins"
	"orcomgo/compress/overlap"
)

// Config tunes Build. Threads is at least 1. Memory bounds the whole process, in bytes and roughly (0: no
// bound): reads that do not fit together are laid out in shares of their signatures and coded in parts, one after
// another. Progress may be nil.
type Config struct {
	Threads  int
	Memory   uint64
	Runs     bool // slices hold the records of whole runs in the order of Sorted: see Column.Run
	Check    bool // decode the pseudogenome while it is coded, for Checked
	Progress func(stage string, done, total uint64)
	// Aside, unless it is nil, calls its argument, which waits for what others compute: a caller that bounds how much is
	// computed at once may let another begin meanwhile.
	Aside func(wait func())
}

func (c Config) aside() func(wait func()) {
	if c.Aside == nil {
		return func(wait func()) { wait() }
	}
	return c.Aside
}

// Encoder codes the sequences of an archive, slice by slice.
type Encoder struct {
	ctx   context.Context
	bins  *bins.Reader
	cfg   Config
	parts []*part

	layout overlap.Config        // how the reads are laid out
	genome *overlap.Pseudogenome // nil until the first slice is coded
	coded  chan struct{}         // closed when what follows is there
	shared []byte                // the pseudogenome, coded
	model  *model                // has seen the pseudogenome's first segment
	check  *pseudogenome         // its decoding, where asked for

	// window, if not 0, is how many records of a run are in memory together.
	window int

	mu      sync.Mutex
	done    *sync.Cond
	current reads // what is in memory
	users   int   // EncodeSlice and Sorted calls that use it
	err     error
}

// reads names reads that are in memory together: those of a part, or of a window of a run.
type reads struct {
	part   int // -1 for none
	input  int
	from   uint64
	window int
}

// Build plans the parts. The layout is made when the first slice is coded, so that other columns of it may be coded beside, or at
// once if memory has no room for both.
func Build(ctx context.Context, r *bins.Reader, c Config) (*Encoder, error) {
	if c.Threads < 1 {
		return nil, fmt.Errorf("seqs: %d threads", c.Threads)
	}
	e := &Encoder{ctx: ctx, bins: r, cfg: c, current: reads{part: -1}}
	e.done = sync.NewCond(&e.mu)
	if tight := e.plan(); tight {
		if err := e.build(); err != nil {
			e.Close()
			return nil, err
		}
	}
	return e, nil
}

// acquire makes sure that reads are in memory until release: those that only, unless it is nil, picks of a part.
func (e *Encoder) acquire(want reads, only func() *overlap.Subset) (*part, error) {
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
			e.parts[e.current.part].forget()
		}
		e.current = want
		var set *overlap.Subset
		if only != nil {
			set = only()
		}
		if err := e.lay(p, set); err != nil {
			e.err = err
			return nil, err
		}
	}
	e.users++
	return p, nil
}

func (e *Encoder) release() {
	e.mu.Lock()
	e.users--
	e.mu.Unlock()
	e.done.Broadcast()
}

// wait waits for the coding of the pseudogenome, if it has begun.
func (e *Encoder) wait() {
	if e.coded != nil {
		<-e.coded
	}
}

// build lays out the reads, unless that is done, and begins to code the pseudogenome.
func (e *Encoder) build() error {
	if e.genome != nil {
		return nil
	}
	var srcs []overlap.Source
	for _, p := range e.parts {
		if p.first+p.count <= maxLaid {
			srcs = append(srcs, p.sources...)
		}
	}
	var err error
	if e.genome, err = overlap.Build(e.ctx, e.bins, srcs, e.layout); err != nil {
		return err
	}
	g := e.genome
	// Slices wait for this only where they hold reads without a place.
	e.coded = make(chan struct{})
	var follow []chan<- []byte
	if e.cfg.Check && e.layout.Whole && len(segments(g.Len)) == 1 {
		e.check, follow = followed(g.Len)
	}
	go func() {
		defer close(e.coded)
		var coded atomic.Int64
		e.shared, e.model = encodePseudogenome(g.Len, SegmentThreads(e.cfg.Threads, e.cfg.Memory), g.Stretch, func(n int) {
			if e.cfg.Progress != nil {
				e.cfg.Progress("coding the pseudogenome", uint64(coded.Add(int64(n))), uint64(g.Len))
			}
		}, follow)
	}()
	return nil
}

// lay loads the reads of a part, or only some, and codes where those of the part stand.
func (e *Encoder) lay(p *part, only *overlap.Subset) (err error) {
	if err = e.build(); err != nil {
		return err
	}
	if p.layout, err = e.genome.Layout(e.ctx, p.sources, p.first, only); err != nil {
		return err
	}
	l := p.layout
	var pos []uint32
	if !e.bins.Meta().Options.OrderAny {
		for rec := range uint32(p.count) {
			if x, _ := l.Place(rec); x != unplaced {
				pos = append(pos, x)
			}
		}
	}
	c := encodeTo(nil)
	p.tree = newPositions(pos, l.Len, c)
	p.shared = c.e.Finish()
	return e.ctx.Err()
}

// Digest returns the sum of ReadHash over the reads of an input, straight from the bins, so that it tells of any read that was left out.
func (e *Encoder) Digest(input int) (uint64, error) {
	var b bins.Block
	var letters []byte
	sum := uint64(0)
	for _, block := range e.bins.Meta().BlocksOf(input) {
		err := e.ctx.Err()
		if err == nil {
			err = e.bins.ReadColumns(block, bins.WantLengths|bins.WantExceptions, &b)
		}
		if err == nil {
			err = e.bins.ReadBins(block, 0, bins.NBin, &b)
		}
		if err == nil {
			letters, err = b.AppendSequences(letters[:0])
		}
		if err != nil {
			return 0, err
		}
		at := 0
		for i := range b.Records {
			n := b.Lengths.Of(i)
			sum += ReadHash(letters[at:at+n], b.FirstRecord+uint64(i))
			at += n
		}
	}
	return sum, nil
}

// Shared returns the sections that decoding any slice needs: the pseudogenome, and the positions of each part. It is called after the last
// EncodeSlice, and releases the layout.
func (e *Encoder) Shared() [][]byte {
	e.Close()
	if len(e.parts) == 0 {
		return nil
	}
	s := [][]byte{e.shared}
	for _, p := range e.parts {
		s = append(s, p.shared)
	}
	return s
}

// Checked returns the decoding of the pseudogenome that took place beside its coding, nil if there was none. It may be
// used after Close.
func (e *Encoder) Checked() *Checked {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.check == nil {
		return nil
	}
	e.wait()
	return &Checked{e.shared, e.check}
}

// Close releases the layout.
func (e *Encoder) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.parts {
		p.forget()
	}
	e.wait()
	e.genome, e.model = nil, nil
	e.current = reads{part: -1}
}

// EncodeSlice codes the sequences of a slice: of first, and of mate unless it is nil, which holds
// the mates of first's reads in the same order. It is safe for concurrent use.
func (e *Encoder) EncodeSlice(first, mate *Column) ([]byte, error) {
	if first.Records == 0 {
		return nil, nil
	}
	lo, hi := first.span()
	k, err := e.partOf(first.Input, lo, hi)
	if err != nil {
		return nil, err
	}
	p := e.parts[k]
	cols := []*Column{first}
	if mate != nil {
		cols = append(cols, mate)
	}
	bases := make([]uint32, len(cols))
	for i, c := range cols {
		lo, hi := c.span()
		if pk, err := e.partOf(c.Input, lo, hi); err != nil || pk != k {
			return nil, fmt.Errorf("seqs: mates are in different parts")
		}
		bases[i], _ = p.record(c.Input, c.From)
	}
	want := reads{part: k}
	var only func() *overlap.Subset
	if e.window > 0 {
		want = reads{k, first.Input, first.From, e.Window(uint64(first.At))}
		only = func() *overlap.Subset {
			set := overlap.NewSubset(p.count)
			lo := want.window * e.window
			// What begins in the window is in memory to its end; slices of a run are of nearly equal counts.
			hi := min(lo+e.window+first.Records+1, len(first.Run))
			for _, base := range bases {
				for _, i := range first.Run[lo:hi] {
					set.Add(base + i)
				}
			}
			return set
		}
	}
	if _, err = e.acquire(want, only); err != nil {
		return nil, err
	}
	defer e.release()
	model := func() (*model, error) {
		e.wait()
		return e.model, nil
	}
	s := &slice{layout: p.layout, stretch: p.layout.Stretch, model: model, sorted: first.Perm != nil, limit: uint64(p.layout.Len), aside: e.cfg.aside()}
	records := make([][]uint32, len(cols))
	for i, c := range cols {
		records[i] = make([]uint32, c.Records)
		for j := range records[i] {
			records[i][j] = bases[i] + uint32(j)
			if c.Perm != nil {
				records[i][j] = bases[i] + c.Perm[j]
			}
			if !p.layout.Reads.Has(records[i][j]) {
				return nil, fmt.Errorf("seqs: slices of a run are of different sizes")
			}
		}
	}
	out := binary.AppendUvarint(nil, uint64(k))
	flags := byte(0)
	if s.sorted {
		flags |= flagSorted
	}
	if first.Quals != nil {
		flags |= flagQuals
	}
	if mate != nil {
		flags |= flagMate
	}
	out = append(out, flags)
	streams := s.encode(p.tree, cols, records)
	for _, b := range streams {
		out = binary.AppendUvarint(out, uint64(len(b)))
	}
	for _, b := range streams {
		out = append(out, b...)
	}
	return out, e.ctx.Err()
}

// span returns the smallest run of records that holds the column's.
func (c *Column) span() (from, to uint64) {
	if c.Perm == nil {
		return c.From, c.From + uint64(c.Records)
	}
	lo, hi := c.Perm[0], c.Perm[0]
	for _, v := range c.Perm[:c.Records] {
		lo, hi = min(lo, v), max(hi, v)
	}
	return c.From + uint64(lo), c.From + uint64(hi) + 1
}
