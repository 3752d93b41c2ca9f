package compress

import (
	"context"
	"math"
	"sync"

	"orcomgo/bins/record"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins"
	"orcomgo/compress/archive"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
)

// encoder turns slices of the bins into sections.
type encoder struct {
	meta  *bins.Meta
	enc   *seqs.Encoder
	level quals.Level
	bins  *bins.Reader
	specs []sliceSpec
	keeps []keeps
	cache *blockCache
	pool  workers
	laid  *gate // the layout of the phase's reads is there

	mu   sync.Mutex
	runs map[*layoutRun]*sortedRun
}

// encoded is a slice ready to be written.
type encoded struct {
	slice    archive.Slice // sections still without place and checksum
	sections [][]byte      // in the order of the file
	check    sliceCheck
	min, max [2]uint32 // read lengths by member
}

// sliceCheck is what verification compares a slice with where its text need not be the
// one that was binned.
type sliceCheck struct {
	perm    []uint32 // see columns
	from    uint64
	columns [2]columnSums
}

// columnSums are XXH3-64 of columns before they were coded.
type columnSums struct{ names, quals, forms uint64 }

func sumColumns(c *columns) columnSums {
	return columnSums{archive.Hash64(c.names), archive.Hash64(c.quals), archive.Hash64(record.MarshalForms(nil, &c.forms))}
}

// encode returns slice i; safe for concurrent use.
func (e *encoder) encode(ctx context.Context, i int) (*encoded, error) {
	spec := e.specs[i]
	inputs := spec.inputs()
	var cols [2]*columns
	out := &encoded{slice: archive.Slice{From: spec.from, Records: spec.records, First: archive.Member{Input: spec.first}}}
	if spec.mate >= 0 {
		out.slice.Mate = &archive.Member{Input: spec.mate}
	}
	members := out.slice.Members()
	if err := e.columns(ctx, spec, &cols); err != nil {
		return nil, err
	}
	out.check.perm, out.check.from = cols[0].perm, cols[0].from
	for m, mem := range members {
		mem.Bases, mem.NamesLen = cols[m].bases(), uint64(len(cols[m].names))
		out.min[m], out.max[m] = lengthRange(cols[m])
	}

	// Four sections a member and one for both, each a task.
	out.sections = make([][]byte, 4*len(members)+1)
	g, ctx := errgroup.WithContext(ctx)
	task := func(section int, f func() []byte) {
		g.Go(func() error {
			return e.pool.do(ctx, func() error {
				out.sections[section] = f()
				return nil
			})
		})
	}
	for m := range members {
		c := cols[m]
		if c.quals != nil {
			task(4*m+3, func() []byte {
				return quals.Encode(quals.Input{Quals: c.quals, Lengths: c.lengths, FixedLen: c.fixed, Records: c.records}, e.level)
			})
		}
	}
	g.Go(func() error {
		return e.withLayout(ctx, func() (err error) {
			var mate *seqs.Column
			if cols[1] != nil {
				mate = seqColumn(cols[1])
			}
			out.sections[len(out.sections)-1], err = e.enc.EncodeSlice(seqColumn(cols[0]), mate)
			return err
		})
	})
	for m := range members {
		c := cols[m]
		if c.names != nil {
			task(4*m+2, func() []byte {
				if m == 1 && cols[0].names != nil {
					return encodeMateNames(c.names, cols[0].names, c.records)
				}
				return encodeNames(c.names, c.records)
			})
		}
		task(4*m+1, func() []byte { return encodeForms(&c.forms) })
		task(4*m, func() []byte { return seqs.EncodeLengths(c.lengths, c.fixed, c.records) })
		g.Go(func() error {
			return e.pool.do(ctx, func() error {
				out.check.columns[m] = sumColumns(c)
				return nil
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if spec.run == nil {
		for _, input := range inputs {
			e.cache.release(input, spec.from, spec.records)
		}
	}
	return out, nil
}

// withLayout runs f, which makes the layout if there is none yet, on a worker.
func (e *encoder) withLayout(ctx context.Context, f func() error) error {
	led := false
	err := e.laid.pass(ctx, func() error {
		led = true
		return e.pool.do(ctx, f)
	})
	if err != nil || led {
		return err
	}
	return e.pool.do(ctx, f)
}

// columns sets cols to those of a slice.
func (e *encoder) columns(ctx context.Context, spec sliceSpec, cols *[2]*columns) error {
	if spec.run != nil {
		return e.withLayout(ctx, func() error { return e.sorted(spec, cols) })
	}
	err := e.pool.do(ctx, func() (err error) {
		for m, input := range spec.inputs() {
			if cols[m], _, err = e.cache.acquire(input, spec.from, spec.records); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !e.meta.Options.OrderAny {
		return err
	}
	return e.withLayout(ctx, func() error {
		perm, err := e.enc.Sorted(spec.first, spec.from, spec.from+uint64(spec.records))
		if err != nil {
			return err
		}
		for m := range spec.inputs() {
			cols[m].permute(perm)
		}
		return nil
	})
}

// sorted sets cols to those of a slice of a run.
func (e *encoder) sorted(spec sliceSpec, cols *[2]*columns) error {
	e.mu.Lock()
	run := e.runs[spec.run]
	if run == nil {
		run = &sortedRun{left: spec.run.slices}
		e.runs[spec.run] = run
	}
	if run.left--; run.left == 0 {
		delete(e.runs, spec.run)
	}
	e.mu.Unlock()
	run.once.Do(func() {
		from, to := spec.run.from, spec.run.from+spec.run.records
		if run.perm, run.err = e.enc.Sorted(spec.first, from, to); run.err != nil {
			return
		}
		for m, input := range spec.inputs() {
			if run.reads[m], run.err = newRunReads(e.bins, input, from, run.perm); run.err != nil {
				return
			}
		}
	})
	if run.err != nil {
		return run.err
	}
	for m := range spec.inputs() {
		cols[m] = run.reads[m].columns(int(spec.from-spec.run.from), spec.records)
	}
	return nil
}

func lengthRange(c *columns) (lo, hi uint32) {
	if c.lengths == nil {
		return c.fixed, c.fixed
	}
	lo = math.MaxUint32
	for _, n := range c.lengths {
		lo, hi = min(lo, n), max(hi, n)
	}
	return lo, hi
}

// sortedRun is a layoutRun in work; it goes when its last slice has taken its columns.
type sortedRun struct {
	once  sync.Once
	left  int // slices that will still ask for it
	perm  []uint32
	reads [2]*runReads
	err   error
}

// runReads are the lengths and exceptions of one input in a layoutRun.
type runReads struct {
	input      int
	from       uint64             // first record of the run
	perm       []uint32           // the i-th record delivered is from+perm[i]
	lengths    []uint32           // in input order; nil: all are fixed
	fixed      uint32             //
	exceptions []record.Exception // Read is the place in the order of delivery; ascending
}

// newRunReads reads the lengths and exceptions of records from..from+len(perm)-1 of an input.
func newRunReads(r *bins.Reader, input int, from uint64, perm []uint32) (*runReads, error) {
	w := &runReads{input: input, from: from, perm: perm}
	meta := r.Meta()
	var blocks []int
	for _, b := range meta.BlocksOf(input) {
		if info := &meta.Blocks[b]; info.FirstRecord < from+uint64(len(perm)) && info.FirstRecord+uint64(info.Records) > from {
			blocks = append(blocks, b)
		}
	}
	ls := make([]*loaded, len(blocks))
	for i, b := range blocks {
		l := &loaded{from: r, number: b}
		if err := r.ReadColumns(b, bins.WantLengths|bins.WantExceptions, &l.Block); err != nil {
			return nil, err
		}
		if err := l.mark(keeps{}); err != nil {
			return nil, err
		}
		ls[i] = l
	}
	c, _, err := gather(input, from, len(perm), ls, keeps{}, false)
	if err != nil {
		return nil, err
	}
	w.lengths, w.fixed, w.exceptions = c.lengths, c.fixed, c.exceptions
	if len(w.exceptions) > 0 {
		inverse := make([]uint32, len(perm))
		for i, p := range perm {
			inverse[p] = uint32(i)
		}
		for i := range w.exceptions {
			w.exceptions[i].Read = inverse[w.exceptions[i].Read]
		}
		sortExceptions(w.exceptions)
	}
	return w, nil
}

// columns returns n records in the order of delivery, the first at.
func (w *runReads) columns(at, n int) *columns {
	c := &columns{input: w.input, from: w.from, records: n, fixed: w.fixed, perm: w.perm[at : at+n], run: w.perm, at: at}
	if w.lengths != nil {
		c.lengths = make([]uint32, n)
		for i, p := range c.perm {
			c.lengths[i] = w.lengths[p]
		}
	}
	c.exceptions = record.SliceExceptions(w.exceptions, uint32(at), uint32(at+n))
	return c
}
