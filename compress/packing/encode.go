package packing

import (
	"context"
	"slices"
	"sync"

	"orcomgo/bins/record"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/nameranges"
	"orcomgo/compress/seqs"
	"orcomgo/compress/slicing"
	"orcomgo/compress/workers"
)

// Encoder turns slices of the bins into sections.
type Encoder struct {
	meta     *bins.Meta
	enc      *seqs.Encoder
	bins     *bins.Reader
	memory   uint64 // 0: no bound
	specs    []slicing.Spec
	keeps    []columns.Kept
	inputs   []archive.Input
	progress *workers.Meter
	cache    *slicing.Cache
	pool     workers.Pool
	// nameRanges says that slices record which names they have.
	nameRanges bool
	assembled  *workers.Once        // the pseudogenome of the phase's reads is there
	primers    map[int]*inputPrimer // by input
	NameLinks  nameLinks
	// readNames returns the names of n records of an input, each followed by '\n'.
	readNames func(input int, from uint64, n int) ([]byte, error)

	mu   sync.Mutex
	runs map[*slicing.Run]*sortedRun
}

// encoded is a slice ready to be written.
type encoded struct {
	slice    archive.Slice              // sections still without place and checksum
	sections [2][archive.Columns][]byte // by member; of what members share, the first's
	check    sliceCheck
	min, max [2]uint32 // read lengths by member
	progress *workers.SliceMeter
}

// sliceCheck is what verification compares a slice with where its text need not be the
// one that was binned.
type sliceCheck struct {
	perm []uint32 // see columns
	from uint64
	sums [2]columns.Sums
}

// encode returns slice i; safe for concurrent use.
func (e *Encoder) encode(ctx context.Context, i int) (*encoded, error) {
	spec := e.specs[i]
	pool := e.pool.InTurn(spec.Turn)
	out := &encoded{slice: spec.Slice()}
	cols, err := e.columns(ctx, spec)
	if err != nil {
		return nil, err
	}
	out.check.perm, out.check.from = cols[0].Perm, cols[0].From
	out.progress = &workers.SliceMeter{M: e.progress, Sizes: func() (bytes, units uint64) {
		for m, mem := range out.slice.Members() {
			units += columns.UnitsOf(cols[m].Bases(), e.meta.Options, e.inputs[mem.Input].Kind)
		}
		return spec.Text, units
	}}
	g, ctx := errgroup.WithContext(ctx)
	var ranges [2]nameranges.Range
	for m, mem := range out.slice.Members() {
		cols[m].ByBases, cols[m].Coded = e.inputs[mem.Input].QualsByBases, out.progress.Coded
		mem.Bases, mem.NamesLen = cols[m].Bases(), uint64(len(cols[m].Names))
		out.min[m], out.max[m] = cols[m].Lengths.Range(spec.Records)
		g.Go(func() error {
			return pool.Do(ctx, func() error {
				out.check.sums[m] = columns.SumsOf(cols[m])
				if e.nameRanges {
					ranges[m].AddNames(cols[m].Names)
				}
				return nil
			})
		})
	}
	// The last columns take longest, so they begin first.
	for id, col := range slices.Backward(encoders[:]) {
		for m, mem := range out.slice.Members() {
			if !e.keeps[mem.Input][id] || columns.Shared(archive.Column(id)) && m > 0 {
				continue
			}
			g.Go(func() error {
				if col.after != nil {
					if err := col.after(ctx, e, pool, &spec, cols[m]); err != nil {
						return err
					}
				}
				pool := pool
				if col.urgent != nil && col.urgent(e, cols[m]) {
					pool = e.pool.InTurn(0)
				}
				return pool.Do(ctx, func() (err error) {
					out.sections[m][id], err = col.encode(ctx, e, &cols, m)
					return err
				})
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if e.nameRanges {
		nameranges.Set(&out.slice, ranges)
	}
	if spec.Run == nil {
		e.cache.Release(&spec)
	}
	return out, nil
}

// afterAssembly runs f, which makes the pseudogenome if there is none yet, on a worker.
func (e *Encoder) afterAssembly(ctx context.Context, pool workers.Pool, f func() error) error {
	first := false
	err := e.assembled.Wait(ctx, func() error {
		first = true
		return pool.Do(ctx, f)
	})
	if err != nil || first {
		return err
	}
	return pool.Do(ctx, f)
}

// assembleEarly has the reads laid out at once, while the first slice gets its columns, unless slices are runs, for which that is the first
// thing to do.
func (e *Encoder) assembleEarly(ctx context.Context, g *errgroup.Group) {
	for _, spec := range e.specs {
		input := spec.Inputs()[0]
		if spec.Run != nil {
			return
		}
		if spec.Records > 0 && e.keeps[input][archive.Seqs] && !e.inputs[input].TwoBit {
			assembled := e.assembled
			g.Go(func() error {
				return e.load(ctx, assembled, e.pool, &columns.Columns{Input: input, From: spec.From, Records: spec.Records})
			})
			return
		}
	}
}

// load loads the reads of c's part, once for the phase.
func (e *Encoder) load(ctx context.Context, assembled *workers.Once, pool workers.Pool, c *columns.Columns) error {
	return assembled.Wait(ctx, func() error {
		return pool.Do(ctx, func() error { return e.enc.Load(ctx, columns.SeqColumn(c)) })
	})
}

// columns returns those of a slice.
func (e *Encoder) columns(ctx context.Context, spec slicing.Spec) (cols [2]*columns.Columns, err error) {
	pool := e.pool.InTurn(spec.Turn)
	if spec.Run != nil {
		err = e.afterAssembly(ctx, pool, func() error { return e.sorted(ctx, spec, &cols) })
		return cols, err
	}
	var lead *columns.Columns // the names of the first mates, if those of the slice are coded given them
	err = pool.Do(ctx, func() (err error) {
		for m, input := range spec.Inputs() {
			if cols[m], err = e.cache.Acquire(input, spec.From, spec.Records); err != nil {
				return err
			}
		}
		if spec.Lead >= 0 {
			lead, err = e.cache.AcquireNames(spec.Lead, spec.From, spec.Records)
		}
		return err
	})
	if err != nil {
		return cols, err
	}
	if e.meta.Options.OrderAny {
		err = e.afterAssembly(ctx, pool, func() error {
			perm, err := e.enc.Sorted(ctx, spec.Ordered(), spec.From, spec.From+uint64(spec.Records))
			if err != nil {
				return err
			}
			for m := range spec.Inputs() {
				cols[m].Permute(perm)
			}
			if lead != nil {
				columns.PermuteNames(lead, &columns.Permutation{Perm: perm})
			}
			return nil
		})
	}
	if lead != nil {
		cols[0].LeadNames = lead.Names
	}
	return cols, err
}

// sorted sets cols to those of a slice of a run.
func (e *Encoder) sorted(ctx context.Context, spec slicing.Spec, cols *[2]*columns.Columns) error {
	e.mu.Lock()
	run := e.sortedRun(spec)
	if run.left--; run.left == 0 {
		delete(e.runs, spec.Run)
	}
	e.mu.Unlock()
	if err := e.sort(ctx, run, spec); err != nil {
		return err
	}
	for m := range spec.Inputs() {
		var err error
		if cols[m], err = run.reads[m].columns(int(spec.From-spec.Run.From), spec.Records); err != nil {
			return err
		}
	}
	return nil
}

// sortedRun returns the run of a slice. e.mu must be locked.
func (e *Encoder) sortedRun(spec slicing.Spec) *sortedRun {
	run := e.runs[spec.Run]
	if run == nil {
		run = &sortedRun{left: spec.Run.Slices}
		e.runs[spec.Run] = run
	}
	return run
}

// sort sorts the run of a slice, and reads what its slices need, unless that has been done.
func (e *Encoder) sort(ctx context.Context, run *sortedRun, spec slicing.Spec) error {
	run.once.Do(func() {
		from, to := spec.Run.From, spec.Run.From+spec.Run.Records
		// The reads are laid out when the first run is sorted. Meanwhile the exceptions are read.
		var g errgroup.Group
		g.Go(func() (err error) {
			for m, input := range spec.Inputs() {
				if run.reads[m], err = newRunReads(e.bins, input, from, int(spec.Run.Records), e.memory, e.pool.Number); err != nil {
					return err
				}
			}
			return nil
		})
		perm, err := e.enc.Sorted(ctx, spec.Ordered(), from, to)
		if run.err = g.Wait(); run.err == nil {
			run.err = err
		}
		for m := range spec.Inputs() {
			if run.err == nil {
				run.reads[m].perm = perm
			}
		}
	})
	return run.err
}

// sortedRun is a Run in work; it is released when its last slice has its columns.
type sortedRun struct {
	once  sync.Once
	left  int // slices that still need it
	reads [2]*runReads
	err   error
}

// runReads are the lengths and exceptions of one input in a Run.
type runReads struct {
	input   int
	from    uint64           // first record of the run
	count   int              // records
	perm    []uint32         // the i-th record delivered is from+perm[i]
	lengths record.Lengths   // in input order
	blocks  []*columns.Block // that hold the run
	threads int

	// The exceptions of a window of the order of delivery are in memory, in input order: those of records perm[at] to perm[end-1].
	mu         sync.Mutex
	window     int // how many records
	at, end    int
	exceptions *record.ExceptionList
	some       record.ReadSet // the records that have exceptions
}

// earlyExceptions is which part of memory, at most, exceptions may take that are read while the reads are laid out.
const earlyExceptions = 64

// newRunReads reads the lengths of records from..from+count-1 of an input, and their exceptions if they take little memory. These are to
// take a 16th of memory in any case (0: no bound).
func newRunReads(r *bins.Reader, input int, from uint64, count int, memory uint64, threads int) (*runReads, error) {
	w := &runReads{input: input, from: from, count: count, threads: threads, window: count}
	meta := r.Meta()
	size := uint64(0)
	var g errgroup.Group
	g.SetLimit(threads)
	for _, b := range meta.BlocksOf(input) {
		info := &meta.Blocks[b]
		if info.FirstRecord >= from+uint64(count) || info.FirstRecord+uint64(info.Records) <= from {
			continue
		}
		size += info.ExceptionBytes()
		l := &columns.Block{From: r, Number: b}
		w.blocks = append(w.blocks, l)
		g.Go(func() error {
			if err := r.ReadColumns(b, bins.WantLengths, &l.Block); err != nil {
				return err
			}
			return l.Mark(columns.OnlyReads())
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if memory > 0 && size > memory/16 {
		w.window = int(workers.Share(uint64(count), memory/16, size))
	}
	var k columns.Kept
	k[archive.Lengths] = true
	c, err := columns.Gather(input, from, count, w.blocks, k)
	if err != nil {
		return nil, err
	}
	w.lengths = c.Lengths
	if memory == 0 || size <= memory/earlyExceptions {
		return w, w.read(0, count)
	}
	return w, nil
}

// exceptionTask is how many records of a block have their exceptions read by one goroutine at a time.
const exceptionTask = 64 * columns.MarkEvery

// read reads the exceptions of the window that begins with the record that is delivered at `at` and has n of them or more.
func (w *runReads) read(at, n int) error {
	w.at, w.end = at, min(at+max(w.window, n), w.count)
	w.exceptions, w.some = nil, nil
	var wanted []uint64 // bit set of the records of the window, unless it is all
	if w.at > 0 || w.end < w.count {
		wanted = make([]uint64, w.count/64+1)
		for _, p := range w.perm[w.at:w.end] {
			wanted[p/64] |= 1 << (p % 64)
		}
	}
	var lists []*record.ExceptionList
	var g errgroup.Group
	g.SetLimit(w.threads)
	for _, l := range w.blocks {
		lo := int(max(w.from, l.FirstRecord) - l.FirstRecord)
		hi := int(min(w.from+uint64(w.count), l.FirstRecord+uint64(l.Records)) - l.FirstRecord)
		for ; lo < hi; lo = (lo/exceptionTask + 1) * exceptionTask {
			list, from, to := &record.ExceptionList{}, lo, min((lo/exceptionTask+1)*exceptionTask, hi)
			lists = append(lists, list)
			g.Go(func() error {
				return l.Exceptions(from, to, func(e record.Exception) error {
					e.Read = uint32(l.FirstRecord + uint64(e.Read) - w.from)
					if wanted == nil || wanted[e.Read/64]>>(e.Read%64)&1 != 0 {
						list.Append(e)
					}
					return nil
				})
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	all := &record.ExceptionList{}
	for i, list := range lists {
		all.AppendList(list)
		lists[i] = nil // so that exceptions are in memory twice only of one list
	}
	w.exceptions, w.some = all, all.Reads()
	return nil
}

// columns returns n records in the order of delivery, the first at; n is at least 1.
func (w *runReads) columns(at, n int) (*columns.Columns, error) {
	c := &columns.Columns{Input: w.input, From: w.from, Records: n, Perm: w.perm[at : at+n], Run: w.perm, At: at}
	c.Lengths = w.lengths.Permute(c.Perm)
	exceptions, some, err := w.exceptionsOf(at, n)
	if err != nil {
		return nil, err
	}
	c.Exceptions = exceptions.Permute(c.Perm, some)
	return c, nil
}

// exceptionsOf returns a list that has the exceptions of n records in the order of delivery, the first at, and its Reads.
func (w *runReads) exceptionsOf(at, n int) (*record.ExceptionList, record.ReadSet, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at < w.at || at+n > w.end {
		if err := w.read(at, n); err != nil {
			return nil, nil, err
		}
	}
	return w.exceptions, w.some, nil
}
