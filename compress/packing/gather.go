package packing

import (
	"context"

	"golang.org/x/sync/errgroup"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/slicing"
	"orcomgo/compress/workers"
	"orcomgo/internal/tasks"
)

// gatherer takes the columns of slices from the bins and puts their records in the order in which they are delivered.
type gatherer struct {
	*packer
	laidOut tasks.Cache[int, struct{}] // by phase: its reads are laid out and in memory
	blocks  *slicing.Cache             // of slices in the order of their input
	runs    tasks.Cache[*slicing.Run, *sortedRun]
}

// newGatherer prepares for all slices. names are the records whose names may be read ahead: see slicing.NewCache.
func newGatherer(p *packer, names func(input int, from uint64) int) *gatherer {
	g := &gatherer{packer: p}
	var blockwise []slicing.Spec
	for _, s := range p.specs {
		if s.Run == nil {
			blockwise = append(blockwise, s)
		} else {
			g.runs.Expect(s.Run)
		}
	}
	g.blocks = slicing.NewCache(p.bins, p.pool, p.kept, p.twoBit(), blockwise, names)
	if len(blockwise) == len(p.specs) { // else runs may need the same blocks
		g.blocks.Last = p.bins.Forget
	}
	return g
}

// layOut loads the reads of c's part, once for the phase.
func (g *gatherer) layOut(ctx context.Context, pool workers.Pool, phase int, c *columns.Columns) error {
	return g.oncePhase(ctx, phase, func() error {
		return pool.Do(ctx, func() error { return g.enc.Load(ctx, columns.SeqColumn(c)) })
	})
}

// oncePhase calls f unless it, or another f, was called for the phase, and waits until that has returned.
func (g *gatherer) oncePhase(ctx context.Context, phase int, f func() error) error {
	_, err := g.laidOut.Get(phase, workers.Waiting(ctx), func() (none struct{}, err error) { return none, f() })
	return err
}

// afterLayout runs f, which has the reads of the phase laid out if they are not yet, in the pool.
func (g *gatherer) afterLayout(ctx context.Context, pool workers.Pool, phase int, f func() error) error {
	first := false
	err := g.oncePhase(ctx, phase, func() error {
		first = true
		return pool.Do(ctx, f)
	})
	if err != nil || first {
		return err
	}
	return pool.Do(ctx, f)
}

// columnsOf returns those of a slice.
func (g *gatherer) columnsOf(ctx context.Context, spec *slicing.Spec) (cols [2]*columns.Columns, err error) {
	pool := g.pool.InTurn(spec.Turn)
	if spec.Run != nil {
		return cols, g.afterLayout(ctx, pool, spec.Phase, func() error {
			run, err := g.sorted(ctx, spec)
			for m := range spec.Inputs() {
				if err == nil {
					cols[m], err = run[m].columns(int(spec.From-spec.Run.From), spec.Records)
				}
			}
			g.runs.Release(spec.Run)
			return err
		})
	}
	var lead *columns.Columns // the names of the first mates, if those of the slice are coded given them
	err = pool.Do(ctx, func() (err error) {
		for m, input := range spec.Inputs() {
			if cols[m], err = g.blocks.Acquire(input, spec.From, spec.Records, columns.Kept{}); err != nil {
				return err
			}
		}
		if spec.Lead >= 0 {
			lead, err = g.blocks.Acquire(spec.Lead, spec.From, spec.Records, columns.Only(archive.Names))
		}
		return err
	})
	if err != nil {
		return cols, err
	}
	if g.man.Options.OrderAny {
		err = g.afterLayout(ctx, pool, spec.Phase, func() error {
			perm, err := g.enc.Sorted(ctx, spec.Ordered(), spec.From, spec.From+uint64(spec.Records))
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

// names returns the names, each followed by '\n', of the reads of c that are among n records of their input.
func (g *gatherer) names(c *columns.Columns, from uint64, n int) ([]byte, error) {
	all, err := g.blocks.Acquire(c.Input, from, n, columns.Only(archive.Names))
	switch {
	case err != nil:
		return nil, err
	case c.Half > 0:
		return columns.Halves(all)[c.Half-1].Names, nil
	}
	return all.Names, nil
}

// sorted returns the run of a slice: it is sorted, and what its slices need is read, when it is asked for first.
func (g *gatherer) sorted(ctx context.Context, spec *slicing.Spec) (*sortedRun, error) {
	return g.runs.Get(spec.Run, g.pool.WaitOutside, func() (*sortedRun, error) {
		run, from, to := new(sortedRun), spec.Run.From, spec.Run.From+spec.Run.Records
		// The reads are laid out when the first run is sorted. Meanwhile the exceptions are read.
		var reading errgroup.Group
		reading.Go(func() (err error) {
			for m, input := range spec.Inputs() {
				if run[m], err = newRunReads(g.bins, input, from, int(spec.Run.Records), g.o.Memory, g.pool.Number); err != nil {
					return err
				}
			}
			return nil
		})
		perm, err := g.enc.Sorted(ctx, spec.Ordered(), from, to)
		if failed := reading.Wait(); failed != nil {
			err = failed
		}
		for m := range spec.Inputs() {
			if err == nil {
				run[m].perm = perm
			}
		}
		return run, err
	})
}

// lettersOf returns the letters of c's reads.
func (g *gatherer) lettersOf(ctx context.Context, c *columns.Columns) ([]byte, error) {
	return g.enc.Letters(ctx, make([]byte, 0, c.Bases()+letterSlack), columns.SeqColumn(c))
}

// letterSlack is how many bytes more than its letters the memory of seqs.Encoder.Letters should have.
const letterSlack = 64
