package seqs

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/basemodel"
	"orcomgo/compress/overlap"
)

// Config has the options of Build.
type Config struct {
	Threads int // at least 1
	// Memory bounds the memory of the whole process, in bytes and roughly; 0 is no bound. Reads that do not fit in it together are laid
	// out in shares of their signatures and coded in parts, one after another.
	Memory   uint64
	Runs     bool                                   // slices hold the records of whole runs in the order of Sorted: see Column.Run
	Check    bool                                   // decode the pseudogenome while it is coded, for Checked
	Progress func(stage string, done, total uint64) // may be nil
	// GPU and Note are those of overlap.Config.
	GPU  bool
	Note func(line string)
	// ReleaseWhile, if not nil, must call its argument, which waits for other goroutines. A caller that bounds the number of
	// computations at a time can start another one until the argument returns.
	ReleaseWhile func(wait func())
}

// releaseWhile returns c.ReleaseWhile, or a function that only waits.
func (c Config) releaseWhile() func(wait func()) {
	if c.ReleaseWhile == nil {
		return func(wait func()) { wait() }
	}
	return c.ReleaseWhile
}

// Encoder codes the sequences of an archive, slice by slice.
type Encoder struct {
	bins  *bins.Reader
	cfg   Config
	parts []*part

	overlap overlap.Config        // how the reads are laid out
	genome  *overlap.Pseudogenome // nil until the first slice is coded
	coded   chan struct{}         // closed when the pseudogenome is coded; nil until this begins
	section basemodel.Encoded     // the pseudogenome, coded

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

// Build returns an Encoder. It lays out the reads at once only if memory is tight (see plan); otherwise that is done when the first
// slice is coded, side by side with other columns of that slice.
func Build(ctx context.Context, r *bins.Reader, c Config) (*Encoder, error) {
	if c.Threads < 1 {
		return nil, fmt.Errorf("seqs: %d threads", c.Threads)
	}
	e := &Encoder{bins: r, cfg: c, current: loaded{part: -1}}
	e.done = sync.NewCond(&e.mu)
	if tight := e.plan(); tight {
		if err := e.build(ctx); err != nil {
			e.Close()
			return nil, err
		}
	}
	return e, nil
}

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
		if err := e.load(ctx, p, set); err != nil {
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

// wait waits until the pseudogenome is coded, if that has begun.
func (e *Encoder) wait() {
	if e.coded != nil {
		<-e.coded
	}
}

// build lays out the reads, if that has not been done, and begins to code the pseudogenome.
func (e *Encoder) build(ctx context.Context) error {
	if e.genome != nil {
		return nil
	}
	var srcs []overlap.Source
	for _, p := range e.parts {
		if p.first+p.count <= maxLayoutRecords {
			srcs = append(srcs, p.sources...)
		}
	}
	var err error
	if e.genome, err = overlap.Build(ctx, e.bins, srcs, e.overlap); err != nil {
		return err
	}
	g := e.genome
	// Only slices with reads without a place wait for this.
	e.coded = make(chan struct{})
	go func() {
		defer close(e.coded)
		var coded atomic.Int64
		e.section = basemodel.Encode(g.Len, g.Stretch, basemodel.Options{
			Threads: SegmentThreads(e.cfg.Threads, e.cfg.Memory),
			Verify:  e.cfg.Check && e.overlap.Whole,
			Progress: func(n int) {
				if e.cfg.Progress != nil {
					e.cfg.Progress("coding the pseudogenome", uint64(coded.Add(int64(n))), uint64(g.Len))
				}
			},
		})
	}()
	return nil
}

// load loads the reads of a part, or only a subset, and codes the tree of the part's positions.
func (e *Encoder) load(ctx context.Context, p *part, only *overlap.Subset) (err error) {
	if err = e.build(ctx); err != nil {
		return err
	}
	if p.layout, err = e.genome.Layout(ctx, p.sources, p.first, only); err != nil {
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
	p.shared = c.Enc.Finish()
	return ctx.Err()
}

// Digest returns the sum of ReadHash over the reads of an input. It reads them from the bins, so that it differs from the sum over the
// decoded reads if one was left out.
func (e *Encoder) Digest(ctx context.Context, input int) (uint64, error) {
	sum := uint64(0)
	for _, block := range e.bins.Meta().BlocksOf(input) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := e.digestBlock(ctx, block)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// digestBlock is Digest for a block.
func (e *Encoder) digestBlock(ctx context.Context, block int) (sum uint64, err error) {
	const every = 1 << 12
	var b bins.Block
	if err := e.bins.ReadColumns(block, bins.WantLengths, &b); err != nil {
		return 0, err
	}
	marks, err := e.bins.ExceptionMarks(block, every, &b.Lengths)
	if err != nil {
		return 0, err
	}
	var letters []byte
	var list record.ExceptionList
	var ofRead []record.Exception
	for lo := 0; lo < b.Records; {
		// As many records as have few enough exceptions, which are together in memory. Their reads are all over the block.
		hi := b.Records
		if marks != nil {
			first, last := lo/every, lo/every+1
			for e.cfg.Memory > 0 && last < len(marks)-1 && marks[last+1].At-marks[first].At <= e.cfg.Memory/4 {
				last++
			}
			if e.cfg.Memory == 0 {
				last = len(marks) - 1
			}
			hi = min(hi, last*every)
			list.Reset()
			err := e.bins.ReadExceptions(block, marks[first], marks[last], &b.Lengths, func(e record.Exception) error {
				if int(e.Read) < hi {
					list.Append(e)
				}
				return nil
			})
			if err != nil {
				return 0, err
			}
		}
		err := e.bins.EachPart(block, 0, bins.NBin, &b, func() error {
			at := 0
			for k, read := range b.Order {
				n := b.Lengths.Of(int(read))
				if int(read) >= lo && int(read) < hi {
					letters = record.AppendLetters(letters[:0], b.Packed[at:], n, b.Place[k]&1 != 0)
					ofRead = list.Of(ofRead, read)
					if err := record.ApplyExceptions(letters, ofRead); err != nil {
						return err
					}
					sum += ReadHash(letters, b.FirstRecord+uint64(read))
				}
				at += record.PackedLen(n)
			}
			return ctx.Err()
		})
		if err != nil {
			return 0, err
		}
		lo = hi
	}
	return sum, nil
}

// Shared returns the sections that the decoding of each slice needs: the pseudogenome, and the positions of each part. It must
// be called after the last EncodeSlice, and releases the layout.
func (e *Encoder) Shared() [][]byte {
	e.Close()
	if len(e.parts) == 0 {
		return nil
	}
	s := [][]byte{e.section.Section}
	for _, p := range e.parts {
		s = append(s, p.shared)
	}
	return s
}

// Checked is a pseudogenome that was decoded while it was coded, and its section.
type Checked struct {
	section []byte
	genome  *basemodel.Sequence
}

// Checked returns the pseudogenome that was decoded while it was coded, nil if that was not done. It waits until the pseudogenome is
// coded, and may be called after Close.
func (e *Encoder) Checked() *Checked {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wait()
	if e.section.Decoded == nil {
		return nil
	}
	return &Checked{e.section.Section, e.section.Decoded}
}

// Close releases the layout.
func (e *Encoder) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.parts {
		p.unload()
	}
	e.wait()
	e.genome, e.section.Model = nil, nil
	e.current = loaded{part: -1}
}

// EncodeSlice codes the sequences of a slice: those of first and, if mate is not nil, those of
// the mates of first's reads in the same order. It is safe for concurrent use.
func (e *Encoder) EncodeSlice(ctx context.Context, first, mate *Column) ([]byte, error) {
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
	firsts := make([]uint32, len(cols)) // record numbers inside the part
	for i, c := range cols {
		lo, hi := c.span()
		if pk, err := e.partOf(c.Input, lo, hi); err != nil || pk != k {
			return nil, fmt.Errorf("seqs: mates are in different parts")
		}
		firsts[i], _ = p.record(c.Input, c.From)
	}
	want := loaded{part: k}
	var only func() *overlap.Subset
	if e.window > 0 {
		want = loaded{k, first.Input, first.From, e.Window(uint64(first.At))}
		only = func() *overlap.Subset {
			set := overlap.NewSubset(p.count)
			lo := want.window * e.window
			// A slice that begins in the window may end after it; slices of a run have nearly equal numbers of records.
			hi := min(lo+e.window+first.Records+1, len(first.Run))
			for _, base := range firsts {
				for _, i := range first.Run[lo:hi] {
					set.Add(base + i)
				}
			}
			return set
		}
	}
	if _, err = e.acquire(ctx, want, only); err != nil {
		return nil, err
	}
	defer e.release()
	s := &slice{layout: p.layout, genome: p.layout.Stretch, sorted: first.Perm != nil, limit: uint64(p.layout.Len),
		releaseWhile: e.cfg.releaseWhile()}
	s.model = func() (*basemodel.Model, error) {
		e.wait()
		return e.section.Model, nil
	}
	records := make([][]uint32, len(cols))
	for i, c := range cols {
		records[i] = make([]uint32, c.Records)
		for j := range records[i] {
			records[i][j] = firsts[i] + uint32(j)
			if c.Perm != nil {
				records[i][j] = firsts[i] + c.Perm[j]
			}
			if !p.layout.Reads.Has(records[i][j]) {
				return nil, fmt.Errorf("seqs: slices of a run have different sizes")
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
	return out, ctx.Err()
}

// span returns the smallest range of records that holds those of the column.
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
