package searching

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress/fmindex"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// Find searches an archive, packed or binned.
//
// With an index, and without Scan, it promises this: every read is found that has a query with Mismatches at most, in a stretch that
// differs from the pseudogenome in Within bases at most where the read has its place, or that is in a stretch of literals as a whole.
// (Bases that are not A, C, G or T don't count as differences from the pseudogenome.) In reads that are aligned to the pseudogenome in
// pieces, a stretch with insertions or deletions, or over the end of a piece, is not promised. Without an index, and with Scan, all reads
// are searched.
func (f *Finder) Find(ctx context.Context, e commit.Entry) (*Finding, error) {
	src, err := source.OpenEntry(e, f.o.Threads, f.o.Memory)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	n := &Finding{Archive: e.Path()}
	s := &search{Finder: f, finding: n, src: src, man: src.Manifest(), pool: workers.NewPool(f.o.Threads)}
	for i := range s.man.Inputs {
		n.Inputs = append(n.Inputs, s.man.Inputs[i].Name)
	}
	defer func() {
		for _, p := range src.Problems() {
			n.Notes = append(n.Notes, p.Error())
		}
	}()
	p, isPacked := src.(*source.Packed)
	if isPacked {
		s.pool = p.Pool
	}
	if isPacked && !f.o.Scan {
		most := int64(source.AllRanks)
		if f.o.Count {
			most = p.MostRanks()
		}
		err := s.inIndex(ctx, e, p, most)
		if errors.Is(err, errManyWindows) { // all hits are to be counted
			err = s.inIndex(ctx, e, p, source.AllRanks)
		}
		if n.Indexed {
			return n, err
		}
		if f.o.OnlyIndex || !errors.Is(err, source.ErrNoIndex) {
			return nil, err
		}
	} else if f.o.OnlyIndex {
		return nil, fmt.Errorf("%s: %w", e.Path(), source.ErrNoIndex)
	}
	err = s.byScan(ctx)
	s.sortCounts()
	return n, err
}

// inIndex opens the index and searches with it.
func (s *search) inIndex(ctx context.Context, e commit.Entry, p *source.Packed, mostRanks int64) error {
	x, closeIndex, mended, err := source.OpenIndex(e, p.Man, mostRanks)
	if err != nil {
		return err
	}
	defer closeIndex()
	s.finding.Indexed = true
	if mended != nil {
		s.finding.Notes = append(s.finding.Notes, mended.Error())
	}
	return vfs.ReadMapped(e.Path()+commit.IndexExt, func() error { return s.byIndex(ctx, p, x) })
}

// byIndex searches with an index. The error is errManyWindows if it has no ranks and there are too many.
func (s *search) byIndex(ctx context.Context, p *source.Packed, x *fmindex.Index) error {
	var w, having []window
	var err error
	if !x.HasRanks() {
		if err = p.NeedGenome(ctx, x); err == nil {
			w, having, err = s.windows(ctx, x)
		}
		if err != nil {
			return err
		}
	}
	counts, err := s.hits(ctx, x, having)
	if err != nil || !s.o.Count {
		s.finding.Counts = counts
		return err
	}
	// If there are hits, reads will surely be decoded. One thread is busy with each primer, for about as long as the others look for windows
	// and candidates.
	var primers sync.WaitGroup
	defer primers.Wait()
	if slices.ContainsFunc(counts, func(c Count) bool { return c.Hits > 0 }) {
		primers.Go(func() { p.PrimersAhead(ctx, p.WithQuals()) })
	}
	if x.HasRanks() {
		w, _, err = s.windows(ctx, x)
	}
	switch {
	case errors.Is(err, errManyWindows):
		err = s.byScan(ctx)
	case err == nil:
		err = s.candidates(ctx, p, x, w)
	}
	if err != nil {
		return err
	}
	for _, c := range counts {
		to := s.count(c.Query, c.Reverse)
		to.Hits, to.Depth = c.Hits, c.Depth
	}
	s.sortCounts()
	return nil
}
