package packing

import (
	"sync"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/workers"
)

// sortedRun is a Run whose order is known: what its slices get their columns of.
type sortedRun [2]*runReads

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
	var numbers []int // of the blocks
	for _, b := range meta.BlocksOf(input) {
		info := &meta.Blocks[b]
		if info.FirstRecord >= from+uint64(count) || info.FirstRecord+uint64(info.Records) <= from {
			continue
		}
		size += info.ExceptionBytes()
		numbers = append(numbers, b)
	}
	w.blocks = make([]*columns.Block, len(numbers))
	var g errgroup.Group
	g.SetLimit(threads)
	for i, b := range numbers {
		g.Go(func() (err error) {
			w.blocks[i], err = columns.LoadBlock(r, b, columns.OnlyReads(), false)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if memory > 0 && size > memory/16 {
		w.window = int(workers.Share(uint64(count), memory/16, size))
	}
	c, err := columns.Gather(input, from, count, w.blocks, columns.Only(archive.Lengths))
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
