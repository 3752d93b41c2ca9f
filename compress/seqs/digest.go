package seqs

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"orcomgo/bases"
	"orcomgo/bins"
	"orcomgo/bins/record"
)

// ReadHash returns the hash of one read's letters and its ordinal in its input. Sums of hashes
// compare sets of reads independently of their order.
func ReadHash(letters []byte, ordinal uint64) uint64 {
	x := xxh3.Hash(letters) ^ ordinal*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9 // as in SplitMix64
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

const (
	// digestReads is how many reads a task of Digests has at least, unless the block has fewer. It is a part of bins.Reader.EachPart:
	// tasks of fewer reads would read the same chunks of the bins several times.
	digestReads uint32 = 1 << 18
	// exceptionMarkEvery is how far apart the records are before which the exceptions of a block can be cut.
	exceptionMarkEvery = 1 << 12
)

// digestTaskBytes is the memory that a task of Digests takes at most.
const digestTaskBytes = 10 << 20

// Digests returns the sum of ReadHash over the reads of each input that is wanted, by input. It reads them from the bins, so that a sum
// differs from that over the decoded reads if one was left out. It may be called at any time, also after Close, and calls Config.Work
// for what it computes.
func (e *Encoder) Digests(ctx context.Context, wanted func(input int) bool) ([]uint64, error) {
	d := digester{bins: e.bins, exceptions: 1 << 62, reads: cmp.Or(e.cfg.digestReads, digestReads),
		markEvery: cmp.Or(e.cfg.exceptionMarkEvery, exceptionMarkEvery), work: e.cfg.work(),
		sums: make([]atomic.Uint64, len(e.bins.Meta().Inputs))}
	tasks := e.cfg.Threads
	if e.cfg.GPU {
		tasks = max(tasks/2, 1) // the others do what the GPU leaves to them
	}
	if e.cfg.Memory > 0 {
		d.exceptions = max(int64(e.cfg.Memory/16), 1)
		tasks = max(1, min(tasks, int(e.cfg.Memory/16/digestTaskBytes)))
	}
	d.memory = semaphore.NewWeighted(d.exceptions)
	var c context.Context
	d.tasks, c = errgroup.WithContext(ctx)
	d.tasks.SetLimit(tasks)
	var failed error
	for block := range e.bins.Meta().Blocks {
		if !wanted(e.bins.Meta().Blocks[block].Input) {
			continue
		}
		if failed = d.block(c, block); failed != nil {
			break
		}
	}
	if err := d.tasks.Wait(); err != nil {
		return nil, err // the cause, where failed is that c has ended
	}
	sums := make([]uint64, len(d.sums))
	for i := range sums {
		sums[i] = d.sums[i].Load()
	}
	return sums, failed
}

// digester computes the digests of inputs.
type digester struct {
	bins       *bins.Reader
	work       func(ctx context.Context, f func() error) error
	tasks      *errgroup.Group
	exceptions int64 // how many bytes of exceptions may be in memory at once, as the bins have them
	memory     *semaphore.Weighted
	sums       []atomic.Uint64
	reads      uint32 // as digestReads
	markEvery  int    // as exceptionMarkEvery
}

// block starts the tasks of a block.
func (d *digester) block(ctx context.Context, block int) error {
	var whole bins.Block
	var marks []bins.ExceptionMark
	var ranges []signatureRange
	err := d.work(ctx, func() (err error) {
		if err = d.bins.ReadColumns(block, bins.WantLengths, &whole); err != nil {
			return err
		}
		if marks, err = d.bins.ExceptionMarks(block, d.markEvery, &whole.Lengths); err != nil {
			return err
		}
		ranges, err = d.signatureRanges(block)
		return err
	})
	if err != nil || marks == nil {
		if err == nil {
			d.start(ctx, &digestWindow{block: block, lengths: whole.Lengths, to: whole.Records}, ranges, 0)
		}
		return err
	}
	// Records are taken together as long as their exceptions fit in memory. Their reads are all over the block.
	for first, last := 0, 0; last < len(marks)-1; first = last {
		size := func(to int) int64 { return int64(marks[to].At - marks[first].At) }
		for last++; last < len(marks)-1 && size(last+1) <= d.exceptions; last++ {
		}
		w := &digestWindow{block: block, lengths: whole.Lengths, from: first * d.markEvery,
			to: min(last*d.markEvery, whole.Records)}
		taken := min(size(last), d.exceptions)
		if err := d.memory.Acquire(ctx, taken); err != nil {
			return err
		}
		err := d.work(ctx, func() error {
			w.exceptions.Grow(int(size(last)))
			err := d.bins.ReadExceptions(block, marks[first], marks[last], &whole.Lengths, func(e record.Exception) error {
				w.exceptions.Append(e)
				return nil
			})
			w.some = w.exceptions.Reads()
			return err
		})
		if err != nil {
			return err
		}
		d.start(ctx, w, ranges, taken)
	}
	return nil
}

// signatureRange is a range of signatures, lo to hi inclusive.
type signatureRange struct{ lo, hi uint32 }

// signatureRanges divides the signatures of a block into ranges of digestReads reads or more.
func (d *digester) signatureRanges(block int) (ranges []signatureRange, err error) {
	index, err := d.bins.BinIndex(block)
	if err != nil {
		return nil, err
	}
	at, reads := uint32(0), uint32(0)
	for _, bin := range index {
		if reads += bin.Reads; reads >= d.reads {
			ranges = append(ranges, signatureRange{at, bin.Signature})
			at, reads = bin.Signature+1, 0
		}
	}
	switch {
	case len(ranges) == 0 || reads >= d.reads/2:
		ranges = append(ranges, signatureRange{at, bins.NBin})
	default: // few reads are left
		ranges[len(ranges)-1].hi = bins.NBin
	}
	return ranges, nil
}

// digestWindow is records from..to-1 of a block with their exceptions.
type digestWindow struct {
	block      int
	lengths    record.Lengths // of the block
	from, to   int
	exceptions record.ExceptionList
	some       record.ReadSet // the reads that have exceptions
}

// start starts a task for each range of signatures; the last of them to end gives back so much of the memory for exceptions.
func (d *digester) start(ctx context.Context, w *digestWindow, ranges []signatureRange, taken int64) {
	var left atomic.Int64
	left.Store(int64(len(ranges)))
	for _, r := range ranges {
		d.tasks.Go(func() error {
			err := d.work(ctx, func() error { return d.add(ctx, w, r) })
			if left.Add(-1) == 0 && taken > 0 {
				d.memory.Release(taken)
			}
			return err
		})
	}
}

// add adds the hashes of the reads of a window whose signatures are in a range.
func (d *digester) add(ctx context.Context, w *digestWindow, r signatureRange) error {
	var letters []byte
	var ofRead []record.Exception
	sum := uint64(0)
	b := bins.Block{Lengths: w.lengths}
	err := d.bins.EachRead(w.block, r.lo, r.hi, &b, func(read *bins.StoredRead) error {
		if int(read.Record) < w.from || int(read.Record) >= w.to {
			return nil
		}
		letters = bases.AppendLetters(letters[:0], read.Packed, read.Len, read.Place&1 != 0)
		if w.some.Has(read.Record) {
			ofRead = w.exceptions.Of(ofRead, read.Record)
			for _, e := range ofRead {
				if err := record.ApplyException(letters, e); err != nil {
					return err
				}
			}
		}
		sum += ReadHash(letters, b.FirstRecord+uint64(read.Record))
		return nil
	})
	if err == nil {
		err = ctx.Err()
	}
	d.sums[b.Input].Add(sum)
	return err
}
