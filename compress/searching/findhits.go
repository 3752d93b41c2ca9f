package searching

import (
	"cmp"
	"context"
	"slices"

	"orcomgo/bins/parse"
	"orcomgo/compress/fmindex"
	"orcomgo/internal/tasks"
)

// maxLocated is how many hits of a query are located to add up their depth. More of them are taken to be like these.
const maxLocated = 10_000

// hits counts the hits, which are known if the index has no ranks.
func (s *search) hits(ctx context.Context, x *fmindex.Index, known []window) ([]Count, error) {
	places := make([][]uint32, len(s.patterns))
	for _, w := range known {
		places[w.Pattern] = append(places[w.Pattern], w.At)
	}
	each := 256
	if s.severalVariants && s.o.Mismatches > 0 {
		each = len(s.patterns) // since one place may be near several variants
	}
	counts := make([]Count, len(s.patterns))
	groups := (len(s.patterns) + each - 1) / each
	errs := make([]error, groups)
	tasks.Each(groups, s.o.Threads, func(_, g int) {
		if errs[g] = ctx.Err(); errs[g] == nil {
			from, to := g*each, min((g+1)*each, len(s.patterns))
			errs[g] = s.hitsOf(x, s.patterns[from:to], places[from:to], counts[from:])
		}
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	counts = slices.DeleteFunc(counts, func(c Count) bool { return c.Hits == 0 })
	if s.o.Overlap == 0 && !s.severalVariants {
		return counts, nil
	}
	slices.SortStableFunc(counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(parse.Flags(a.Reverse), parse.Flags(b.Reverse)), cmp.Compare(b.Hits, a.Hits))
	})
	merged := counts[:0]
	for _, c := range counts {
		switch last := len(merged) - 1; {
		case last < 0 || merged[last].Query != c.Query || merged[last].Reverse != c.Reverse:
			merged = append(merged, c)
		case s.o.Overlap == 0:
			merged[last].Hits += c.Hits
			merged[last].Depth += c.Depth
		}
	}
	return merged, nil
}

// locate sets the places of some patterns, of each up to maxLocated, and returns how many rows it has; it does nothing without ranks.
func (s *search) locate(x *fmindex.Index, patterns []pattern, found [][]uint32) (all []int, err error) {
	all = make([]int, len(patterns))
	if !x.HasRanks() {
		return all, nil
	}
	rows := make([][]fmindex.Rows, len(patterns))
	if s.o.Mismatches == 0 {
		sequences, found := make([][]byte, len(patterns)), make([]fmindex.Rows, len(patterns))
		for i := range patterns {
			sequences[i] = patterns[i].bases
		}
		x.FindAll(sequences, found)
		for i := range found {
			rows[i] = found[i : i+1]
		}
	} else {
		for i := range patterns {
			x.Near(patterns[i].bases, s.o.Mismatches, func(r fmindex.Rows) bool {
				rows[i] = append(rows[i], r)
				return true
			})
		}
	}
	var places []uint32
	ends := make([]int, len(patterns)) // of the places of each pattern
	for i := range patterns {
		from := len(places)
		for _, r := range rows[i] {
			places = r.Append(places, from+maxLocated-len(places))
			all[i] += r.Count()
		}
		ends[i] = len(places)
	}
	err = x.Locate(places)
	from := 0
	for i, end := range ends {
		found[i], from = places[from:end], end
		slices.Sort(found[i]) // depths are added up in this order
	}
	return all, err
}

// hitsOf sets the counts of some patterns, whose places are given if the index has no ranks.
func (s *search) hitsOf(x *fmindex.Index, patterns []pattern, places [][]uint32, counts []Count) error {
	all, err := s.locate(x, patterns, places)
	if err != nil {
		return err
	}
	type place struct {
		strand [2]int
		at     uint32
	}
	var counted map[place]bool // nil unless a place may be found several times
	if s.severalVariants && s.o.Mismatches > 0 {
		counted = make(map[place]bool)
	}
	for i, p := range patterns {
		c := &counts[i]
		c.Query, c.Reverse = p.query, p.reverse
		for _, at := range places[i] {
			if x.Whole(int(at), len(p.bases)) && !counted[place{p.strand(), at}] {
				if counted != nil {
					counted[place{p.strand(), at}] = true
				}
				c.Hits++
				c.Depth += x.Depth(int(at), int(at)+len(p.bases))
			}
		}
		if len(places[i]) < all[i] {
			more := float64(all[i]) / float64(len(places[i]))
			c.Hits, c.Depth = int(float64(c.Hits)*more), c.Depth*more
		}
	}
	return nil
}
