package describing

import (
	"context"
	"sync/atomic"

	"orcomgo/bins/commit"
	"orcomgo/compress/columns"
	"orcomgo/compress/fmindex"
	"orcomgo/compress/restoring"
	"orcomgo/compress/seqs"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// InspectStage is the stage of progress in which Inspect decodes. It counts bytes of text.
const InspectStage = "reading the archive"

// InspectOptions control Inspect.
type InspectOptions struct {
	Threads  int
	Memory   uint64           // bytes aimed for; 0 for the package's default
	Progress workers.Progress // may be nil
	// Look is called once for each slice, from several goroutines at once and in any order. What it gets is valid until it returns. An
	// error of it ends Inspect.
	Look func(s *InspectedSlice) error
}

// InspectedSlice is what was decoded of a slice: the same records of one input, or of the two inputs of a pair.
type InspectedSlice struct {
	Number, Of int                 // of the slice, counted from 0; and how many slices there are
	Batches    [2]*restoring.Batch // by member; nil where there is none, and of one that is damaged
	Texts      [2][]byte           // of the batches, as unpack restores them
}

// Inspection is what Inspect returns.
type Inspection struct {
	Information *Information
	Files       []restoring.FileStatus // as those of Verify
	// Pseudogenome is nil if it is not known: in bins, without reads, and if the reads are damaged.
	Pseudogenome *Pseudogenome
}

// Pseudogenome says how the reads are laid out. Reads of damaged slices are not counted.
type Pseudogenome struct {
	Bases  uint64 `json:"bases"`
	Placed uint64 `json:"placed"` // reads that are on it as a whole
	Pieces uint64 `json:"pieces"` // long reads of which pieces may be on it
	Alone  uint64 `json:"alone"`  // reads that are not on it
	Window int    `json:"window"` // bases of each stretch of which a depth is known; the last one may be shorter
	// Depths says for each window how many reads lie over a base of it, on average.
	Depths []float64 `json:"-"`
}

// maxDepths bounds how many windows there are: 16 MiB of sums.
const maxDepths = 1 << 20

// Inspect decodes an archive once, verifies it as Verify does, and shows what was decoded to o.Look. Bins beside a packed archive are
// not read. The error is for what prevents a look at single files, and that of Look.
func Inspect(ctx context.Context, e commit.Entry, o InspectOptions) (*Inspection, error) {
	src, err := source.OpenEntry(e, o.Threads, o.Memory)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	n := new(Inspection)
	if n.Information, err = infoOfSource(e, src); err != nil {
		return nil, err
	}
	man := src.Manifest()
	jobs := restoring.WholeArchive(man)
	p, isPacked := src.(*source.Packed)
	var where *placing
	if isPacked && len(jobs) > 0 {
		if where, err = newPlacing(ctx, p); err != nil {
			return nil, err
		}
	}
	for i := range jobs {
		jobs[i].Layouts = where != nil
	}
	look := func(k int, p *restoring.Piece, b *source.Decoded) error {
		if where != nil {
			where.add(b)
		}
		s := &InspectedSlice{Number: k, Of: len(jobs)}
		for m, c := range b.Cols {
			if c == nil || p.Err[m] != nil {
				continue
			}
			var err error
			numbers := man.Options.DropNames && !man.Options.ReadsOnly
			if s.Batches[m], err = restoring.NewBatch(c, []columns.Span{{Lo: 0, Hi: c.Records}}, numbers); err != nil {
				return err
			}
			s.Texts[m] = p.Text[m]
		}
		return o.Look(s)
	}
	verify := restoring.VerifyOptions{Threads: o.Threads, Memory: o.Memory, Progress: o.Progress}
	if n.Files, err = restoring.VerifyJobs(ctx, src, InspectStage, verify, jobs, look); err != nil {
		return nil, err
	}
	n.Files = append(n.Files, restoring.ProblemStatus(src)...)
	if where != nil {
		n.Pseudogenome = &Pseudogenome{Bases: uint64(where.bases), Placed: where.placed.Load(), Pieces: where.pieces.Load(),
			Alone: where.alone.Load(), Window: where.window, Depths: where.coverage.Depths()}
	}
	return n, nil
}

// placing counts where reads are on the pseudogenome. Its methods are safe for concurrent use.
type placing struct {
	coverage              *fmindex.Coverage
	bases, window         int
	placed, pieces, alone atomic.Uint64
}

// newPlacing returns the counts of no reads; nil if the pseudogenome is damaged, which all slices will report.
func newPlacing(ctx context.Context, p *source.Packed) (*placing, error) {
	if err := p.NeedShared(ctx); err != nil {
		return nil, ctx.Err()
	}
	n, err := p.Seqs.Len()
	if err != nil {
		return nil, nil
	}
	c := &placing{bases: n, window: fmindex.Window}
	for n/c.window > maxDepths {
		c.window *= 2
	}
	c.coverage = fmindex.NewCoverage(n, c.window)
	return c, nil
}

// add counts the reads of a slice that were decoded.
func (c *placing) add(b *source.Decoded) {
	if first := b.Cols[0]; first != nil {
		for _, s := range first.Layout.Pieces {
			c.coverage.Add(int(s.From), int(s.To))
		}
	}
	for _, col := range b.Cols {
		if col == nil {
			continue
		}
		var placed, pieces uint64
		for i, at := range col.Layout.Positions {
			switch {
			case at != seqs.Unplaced:
				placed++
				c.coverage.Add(int(at), int(at)+col.Lengths.Of(i))
			case col.Layout.Literals != nil && col.Layout.Literals[i] != nil:
				pieces++
			}
		}
		c.placed.Add(placed)
		c.pieces.Add(pieces)
		c.alone.Add(uint64(col.Records) - placed - pieces)
	}
}
