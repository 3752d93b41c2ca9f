package source

import (
	"fmt"

	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/workers"
)

// Open opens the archive that path leads to: the packed one, or, before it is packed,
// the bins. Where both are there and differ, the bins are newer: they replaced the packed
// archive, whose removal was interrupted.
func Open(path string, threads int, memory uint64) (Source, error) {
	e, err := commit.One(path)
	if err != nil {
		return nil, err
	}
	return OpenEntry(e, threads, memory)
}

// OpenEntry is Open for an archive that was found.
func OpenEntry(e commit.Entry, threads int, memory uint64) (Source, error) {
	var p *archive.Reader
	var b *bins.Reader
	var packedErr, binsErr error
	if e.Has[commit.Packed] {
		p, packedErr = archive.OpenEntry(e)
	}
	if e.Has[commit.Bins] {
		b, binsErr = bins.OpenEntry(e)
	}
	same := p != nil && b != nil && p.Manifest().Source == b.Meta().ID
	if same && !p.MetaMissing() {
		b.Close()
		b = nil
	}
	switch {
	case b != nil:
		// Where p has only lost its .cmeta file, its commit was interrupted: pack completes it.
		var problem []error
		if p != nil {
			p.Close()
		}
		if p != nil && !same {
			problem = append(problem, fmt.Errorf("%s: it was packed from other bins than those that are there: %w",
				e.Path()+archive.MetaSuffix, parse.ErrCorrupt))
		}
		if packedErr != nil {
			problem = append(problem, packedErr)
		}
		s, err := NewBinned(b, threads, memory)
		if err == nil {
			err = record.CheckInputNames(s.Man.BinsInputs())
		}
		if err != nil {
			b.Close()
			return nil, err
		}
		s.problem = problem
		return s, nil
	case p != nil:
		if err := record.CheckInputNames(p.Manifest().BinsInputs()); err != nil {
			p.Close()
			return nil, err
		}
		return NewPacked(p, workers.NewPool(threads), memory), nil
	case packedErr != nil:
		return nil, packedErr
	}
	return nil, binsErr
}
