package searching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/fmindex"
	"orcomgo/compress/scan"
	"orcomgo/compress/seqs"
	"orcomgo/compress/source"
)

// candidates searches the reads that lie over windows of the index's text.
func (s *search) candidates(ctx context.Context, p *source.Packed, x *fmindex.Index, all []window) error {
	c := &candidateSearch{search: s, p: p, literals: make(map[int][]literalWindow)}
	c.genome = all[:sort.Search(len(all), func(i int) bool { return int(all[i].At) >= x.Genome() })]
	for _, w := range all[len(c.genome):] {
		if l, ok := x.Literal(int(w.At), len(s.patterns[w.Pattern].bases)); ok {
			c.literals[l.Slice] = append(c.literals[l.Slice], literalWindow{l.At, int(w.Pattern)})
		}
	}
	if len(all) == 0 {
		s.finding.Counted = true
		return nil
	}
	if err := p.ShareIndex(ctx, x); err != nil {
		return err
	}
	list, err := c.slices(x)
	if err != nil {
		return err
	}
	demands := make([]source.Demand, len(list.numbers))
	for k, i := range list.numbers {
		demands[k] = s.wanted(i)
	}
	fetch := p.Ahead(demands)
	return s.reads(ctx, list, func(ctx context.Context, k int) (*source.Decoded, []match, error) {
		fetch(k)
		n, err := c.look(ctx, demands[k])
		if n == nil || err != nil {
			return nil, nil, err
		}
		return c.decode(ctx, n)
	})
}

// slices returns the slices that may have reads over windows; all, if the part of the index that says it is damaged.
func (c *candidateSearch) slices(x *fmindex.Index) (*sliceList, error) {
	stretches := make([]fmindex.Stretch, len(c.genome))
	for i, w := range c.genome {
		stretches[i] = fmindex.Stretch{From: int(w.At), To: int(w.At) + len(c.patterns[w.Pattern].bases)}
	}
	numbers, err := x.SlicesOver(stretches, c.o.Threads)
	switch {
	case errors.Is(err, fmindex.ErrCorrupt):
		c.finding.Notes = append(c.finding.Notes, fmt.Sprintf("%s: %v: all slices are searched", c.finding.Archive+commit.IndexExt, err))
		return c.allSlices(), nil
	case err != nil:
		return nil, err
	}
	for i := range c.literals {
		numbers = append(numbers, i)
	}
	slices.Sort(numbers)
	return c.sliceList(slices.Compact(numbers)), nil
}

// candidateSearch searches the reads over windows.
type candidateSearch struct {
	*search
	p        *source.Packed
	genome   []window                // those of the pseudogenome, by place
	literals map[int][]literalWindow // by slice, by place
}

// literalWindow is a window in the literals of a slice, which are counted from 0.
type literalWindow struct{ at, pattern int }

// candidates are what may be matches in a slice.
type candidates struct {
	found  []match
	wanted source.Demand // what of the slice is to be decoded
	// layouts are nil unless reads may be aligned in pieces: then all of those without a place are searched.
	layouts *[2]*seqs.Layout
}

// look returns the candidates of a slice; nil if there are none.
func (c *candidateSearch) look(ctx context.Context, wanted source.Demand) (*candidates, error) {
	i := wanted.Slice
	b, err := decodeWhole(ctx, c.p, source.Demand{Slice: i, Columns: columns.Only(archive.Lengths)})
	if err != nil {
		return nil, err
	}
	n := &candidates{wanted: wanted}
	err = c.pool.Do(ctx, func() (err error) {
		what := archive.Seqs.String() + " of " + source.WhereRecords(c.man, b.Slice, 0)
		data, err := c.p.Archive.Read(b.Slice.Seqs, nil, what)
		if err != nil {
			return err
		}
		var layouts [2]*seqs.Layout
		if c.man.Inputs[b.Slice.First.Input].TwoBit {
			layouts[0] = seqs.UnplacedLayout(b.Slice.Records)
			n.found = c.overLiterals(nil, b, layouts, c.literals[i])
		} else {
			var inPieces bool
			cols := b.Cols
			if b.Slice.Halves() {
				cols = columns.Halves(cols[0])
			}
			first, mate := columns.SeqColumns(&cols)
			if layouts, inPieces, err = c.p.Seqs.Places(data, first, mate); err != nil {
				return c.p.Archive.Corrupt(what, err)
			}
			if b.Slice.Halves() {
				layouts = [2]*seqs.Layout{seqs.InterleaveLayouts(layouts[0], layouts[1])}
			}
			n.found = c.overGenome(b, layouts)
			if inPieces {
				n.layouts = &layouts
				return nil
			}
			n.found = c.overLiterals(n.found, b, layouts, c.literals[i])
		}
		n.want(b, layouts)
		return nil
	})
	if err != nil || len(n.found) == 0 && n.layouts == nil {
		return nil, err
	}
	return n, nil
}

// want sets what of a slice is to be decoded, in which no read is in pieces: the first reads, up to the last that is found, and those
// without a place only if a record has one.
func (n *candidates) want(b *source.Decoded, layouts [2]*seqs.Layout) {
	n.wanted.Layouts, n.wanted.WithoutLiterals = true, true
	for _, m := range n.found {
		from, to := b.Slice.Fragment(m.record)
		n.wanted.First = max(n.wanted.First, to)
		for k, col := range b.Cols { // its mate is wanted as well
			if col != nil && slices.Contains(layouts[k].Positions[from:to], seqs.Unplaced) {
				n.wanted.WithoutLiterals = false
			}
		}
	}
}

// decode returns the matches among candidates.
func (c *candidateSearch) decode(ctx context.Context, n *candidates) (*source.Decoded, []match, error) {
	b, err := decodeWhole(ctx, c.p, n.wanted)
	if err != nil {
		return nil, nil, err
	}
	var found []match
	err = c.pool.Do(ctx, func() error {
		found = c.compare(b, n.found)
		if n.layouts != nil {
			for m, col := range b.Cols {
				if col != nil {
					found = c.inColumn(found, col, m, func(i int) bool { return n.layouts[m].Positions[i] == seqs.Unplaced })
				}
			}
		}
		return nil
	})
	return b, found, err
}

// overGenome returns what may be a match in reads that have a place.
func (c *candidateSearch) overGenome(b *source.Decoded, layouts [2]*seqs.Layout) (found []match) {
	if len(c.genome) == 0 {
		return nil
	}
	for m, col := range b.Cols {
		if col == nil {
			continue
		}
		l := layouts[m]
		for i, at := range l.Positions {
			if at == seqs.Unplaced {
				continue
			}
			n := col.Lengths.Of(i)
			k, _ := slices.BinarySearchFunc(c.genome, at, func(w window, at uint32) int { return cmp.Compare(w.At, at) })
			for ; k < len(c.genome) && int(c.genome[k].At)+MinQuery <= int(at)+n; k++ {
				w := c.genome[k]
				offset := int(w.At - at)
				size := len(c.patterns[w.Pattern].bases)
				if offset+size > n {
					continue
				}
				if l.Reversed[i] {
					found = append(found, match{i, m, c.patterns[w.Pattern].other, n - offset - size})
				} else {
					found = append(found, match{i, m, int(w.Pattern), offset})
				}
			}
		}
	}
	return found
}

// overLiterals adds what may be a match in reads without a place, none of which is in pieces.
func (c *candidateSearch) overLiterals(found []match, b *source.Decoded, layouts [2]*seqs.Layout, windows []literalWindow) []match {
	at := 0 // literals before the read
	for i := 0; i < b.Slice.Records && len(windows) > 0; i++ {
		for m, col := range b.Cols {
			if col == nil || layouts[m].Positions[i] != seqs.Unplaced {
				continue
			}
			end := at + col.Lengths.Of(i)
			for len(windows) > 0 && windows[0].at < end {
				found = append(found, match{i, m, windows[0].pattern, windows[0].at - at})
				windows = windows[1:]
			}
			at = end
		}
	}
	return found
}

// compare keeps of what may be matches those that are.
func (c *candidateSearch) compare(b *source.Decoded, found []match) []match {
	var starts [2]record.Starts
	for m, col := range b.Cols {
		if col != nil {
			starts[m] = col.Lengths.Starts()
		}
	}
	return slices.DeleteFunc(found, func(m match) bool {
		letters := b.Cols[m.member].Letters[starts[m.member].Of(m.record)+m.at:]
		differences := 0
		for i, want := range c.patterns[m.pattern].bases {
			if got, ok := scan.Code(letters[i]); !ok || got != want {
				differences++
			}
		}
		return differences > c.o.Mismatches
	})
}
