package compress

import (
	"context"
	"slices"
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
	meta     *bins.Meta
	enc      *seqs.Encoder
	level    quals.Level
	bins     *bins.Reader
	memory   uint64 // 0: no bound
	specs    []sliceSpec
	keeps    []keeps
	inputs   []archive.Input
	progress *meter
	cache    *blockCache
	pool     workers
	// nameRanges says that slices record which names they have.
	nameRanges bool
	assembled  *onceWork            // the pseudogenome of the phase's reads is there
	primers    map[int]*inputPrimer // by input
	nameLinks  nameLinks
	// readNames returns the names of n records of an input, each followed by '\n'.
	readNames func(input int, from uint64, n int) ([]byte, error)

	mu   sync.Mutex
	runs map[*layoutRun]*sortedRun
}

// encoded is a slice ready to be written.
type encoded struct {
	slice    archive.Slice              // sections still without place and checksum
	sections [2][archive.Columns][]byte // by member; of what members share, the first's
	check    sliceCheck
	min, max [2]uint32 // read lengths by member
	progress *sliceMeter
}

// sliceCheck is what verification compares a slice with where its text need not be the
// one that was binned.
type sliceCheck struct {
	perm []uint32 // see columns
	from uint64
	sums [2]columnSums
}

// encode returns slice i; safe for concurrent use.
func (e *encoder) encode(ctx context.Context, i int) (*encoded, error) {
	spec := e.specs[i]
	pool := e.pool.inTurn(spec.turn)
	out := &encoded{slice: spec.slice()}
	cols, err := e.columns(ctx, spec)
	if err != nil {
		return nil, err
	}
	out.check.perm, out.check.from = cols[0].perm, cols[0].from
	out.progress = &sliceMeter{m: e.progress, sizes: func() (bytes, units uint64) {
		for m, mem := range out.slice.Members() {
			units += unitsOf(cols[m].bases(), e.meta.Options, e.inputs[mem.Input].Kind)
		}
		return spec.text, units
	}}
	g, ctx := errgroup.WithContext(ctx)
	var ranges [2]wordRange
	for m, mem := range out.slice.Members() {
		cols[m].byBases, cols[m].coded = e.inputs[mem.Input].QualsByBases, out.progress.coded
		mem.Bases, mem.NamesLen = cols[m].bases(), uint64(len(cols[m].names))
		out.min[m], out.max[m] = cols[m].lengths.Range(spec.records)
		g.Go(func() error {
			return pool.do(ctx, func() error {
				out.check.sums[m] = sumColumns(cols[m])
				if e.nameRanges {
					ranges[m].addNames(cols[m].names)
				}
				return nil
			})
		})
	}
	// The last columns take longest, so they begin first.
	for id, col := range slices.Backward(encoders[:]) {
		for m, mem := range out.slice.Members() {
			if !e.keeps[mem.Input][id] || shared(archive.Column(id)) && m > 0 {
				continue
			}
			run := pool.do
			if e.inputs[mem.Input].TwoBit {
				run = pool.do
			} else if col.afterAssembly || archive.Column(id) == archive.Quals && cols[m].byBases {
				run = func(ctx context.Context, f func() error) error { return e.afterAssembly(ctx, pool, f) }
				if spec.run == nil {
					run = func(ctx context.Context, f func() error) error { return e.afterLoad(ctx, pool, cols[m], f) }
				}
			} else if p := e.primers[mem.Input]; archive.Column(id) == archive.Quals && p != nil {
				run = e.pool.inTurn(0).do // since others wait for the primer
				if p.from != spec.from {
					run = func(ctx context.Context, f func() error) error { return afterPrimer(ctx, pool, p, f) }
				}
			} else if l := e.nameLinks[nameKey{mem.Input, spec.from}]; archive.Column(id) == archive.Names && l != nil {
				run = func(ctx context.Context, f func() error) error { return afterLink(ctx, pool, l, f) }
			}
			g.Go(func() error {
				return run(ctx, func() (err error) {
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
		setWords(&out.slice, ranges)
	}
	if spec.run == nil {
		e.cache.release(&spec)
	}
	return out, nil
}

// afterAssembly runs f, which makes the pseudogenome if there is none yet, on a worker.
func (e *encoder) afterAssembly(ctx context.Context, pool workers, f func() error) error {
	first := false
	err := e.assembled.wait(ctx, func() error {
		first = true
		return pool.do(ctx, f)
	})
	if err != nil || first {
		return err
	}
	return pool.do(ctx, f)
}

// assembleEarly has the reads laid out at once, while the first slice gets its columns, unless slices are runs, for which that is the first
// thing to do.
func (e *encoder) assembleEarly(ctx context.Context, g *errgroup.Group) {
	for _, spec := range e.specs {
		input := spec.inputs()[0]
		if spec.run != nil {
			return
		}
		if spec.records > 0 && e.keeps[input][archive.Seqs] && !e.inputs[input].TwoBit {
			assembled := e.assembled
			g.Go(func() error {
				return e.load(ctx, assembled, e.pool, &columns{input: input, from: spec.from, records: spec.records})
			})
			return
		}
	}
}

// afterLoad is afterAssembly for f that needs the reads of c's part in memory. Other slices wait for these alone, not for f.
func (e *encoder) afterLoad(ctx context.Context, pool workers, c *columns, f func() error) error {
	if err := e.load(ctx, e.assembled, pool, c); err != nil {
		return err
	}
	return pool.do(ctx, f)
}

// load loads the reads of c's part, once for the phase.
func (e *encoder) load(ctx context.Context, assembled *onceWork, pool workers, c *columns) error {
	return assembled.wait(ctx, func() error {
		return pool.do(ctx, func() error { return e.enc.Load(ctx, seqColumn(c)) })
	})
}

// columns returns those of a slice.
func (e *encoder) columns(ctx context.Context, spec sliceSpec) (cols [2]*columns, err error) {
	pool := e.pool.inTurn(spec.turn)
	if spec.run != nil {
		err = e.afterAssembly(ctx, pool, func() error { return e.sorted(ctx, spec, &cols) })
		return cols, err
	}
	var lead *columns // the names of the first mates, if those of the slice are coded given them
	err = pool.do(ctx, func() (err error) {
		for m, input := range spec.inputs() {
			if cols[m], err = e.cache.acquire(input, spec.from, spec.records); err != nil {
				return err
			}
		}
		if spec.lead >= 0 {
			lead, err = e.cache.acquireNames(spec.lead, spec.from, spec.records)
		}
		return err
	})
	if err != nil {
		return cols, err
	}
	if e.meta.Options.OrderAny {
		err = e.afterAssembly(ctx, pool, func() error {
			perm, err := e.enc.Sorted(ctx, spec.ordered(), spec.from, spec.from+uint64(spec.records))
			if err != nil {
				return err
			}
			for m := range spec.inputs() {
				cols[m].permute(perm)
			}
			if lead != nil {
				permuteNames(lead, &permutation{perm: perm})
			}
			return nil
		})
	}
	if lead != nil {
		cols[0].leadNames = lead.names
	}
	return cols, err
}

// sorted sets cols to those of a slice of a run.
func (e *encoder) sorted(ctx context.Context, spec sliceSpec, cols *[2]*columns) error {
	e.mu.Lock()
	run := e.sortedRun(spec)
	if run.left--; run.left == 0 {
		delete(e.runs, spec.run)
	}
	e.mu.Unlock()
	if err := e.sort(ctx, run, spec); err != nil {
		return err
	}
	for m := range spec.inputs() {
		var err error
		if cols[m], err = run.reads[m].columns(int(spec.from-spec.run.from), spec.records); err != nil {
			return err
		}
	}
	return nil
}

// sortedRun returns the run of a slice. e.mu must be locked.
func (e *encoder) sortedRun(spec sliceSpec) *sortedRun {
	run := e.runs[spec.run]
	if run == nil {
		run = &sortedRun{left: spec.run.slices}
		e.runs[spec.run] = run
	}
	return run
}

// sort sorts the run of a slice, and reads what its slices need, unless that has been done.
func (e *encoder) sort(ctx context.Context, run *sortedRun, spec sliceSpec) error {
	run.once.Do(func() {
		from, to := spec.run.from, spec.run.from+spec.run.records
		// The reads are laid out when the first run is sorted. Meanwhile the exceptions are read.
		var g errgroup.Group
		g.Go(func() (err error) {
			for m, input := range spec.inputs() {
				if run.reads[m], err = newRunReads(e.bins, input, from, int(spec.run.records), e.memory, e.pool.number); err != nil {
					return err
				}
			}
			return nil
		})
		perm, err := e.enc.Sorted(ctx, spec.ordered(), from, to)
		if run.err = g.Wait(); run.err == nil {
			run.err = err
		}
		for m := range spec.inputs() {
			if run.err == nil {
				run.reads[m].perm = perm
			}
		}
	})
	return run.err
}

// sortedRun is a layoutRun in work; it is released when its last slice has its columns.
type sortedRun struct {
	once  sync.Once
	left  int // slices that still need it
	reads [2]*runReads
	err   error
}

// runReads are the lengths and exceptions of one input in a layoutRun.
type runReads struct {
	input   int
	from    uint64         // first record of the run
	count   int            // records
	perm    []uint32       // the i-th record delivered is from+perm[i]
	lengths record.Lengths // in input order
	blocks  []*loaded      // that hold the run
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
		l := &loaded{from: r, number: b}
		w.blocks = append(w.blocks, l)
		g.Go(func() error {
			if err := r.ReadColumns(b, bins.WantLengths, &l.Block); err != nil {
				return err
			}
			return l.mark(onlyReads())
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if memory > 0 && size > memory/16 {
		w.window = int(share(uint64(count), memory/16, size))
	}
	var k keeps
	k[archive.Lengths] = true
	c, err := gather(input, from, count, w.blocks, k)
	if err != nil {
		return nil, err
	}
	w.lengths = c.lengths
	if memory == 0 || size <= memory/earlyExceptions {
		return w, w.read(0, count)
	}
	return w, nil
}

// exceptionTask is how many records of a block have their exceptions read by one goroutine at a time.
const exceptionTask = 64 * markEvery

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
				return l.exceptions(from, to, func(e record.Exception) error {
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
func (w *runReads) columns(at, n int) (*columns, error) {
	c := &columns{input: w.input, from: w.from, records: n, perm: w.perm[at : at+n], run: w.perm, at: at}
	c.lengths = w.lengths.Permute(c.perm)
	exceptions, some, err := w.exceptionsOf(at, n)
	if err != nil {
		return nil, err
	}
	c.exceptions = exceptions.Permute(c.perm, some)
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
