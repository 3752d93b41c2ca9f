package searching

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"orcomgo/compress/fmindex"
	"orcomgo/compress/scan"
	"orcomgo/internal/tasks"
)

// window is a stretch of the index's text that is near a pattern.
type window struct {
	At      uint32
	Pattern uint32
}

// maxWindows is how many windows are looked at. Where there are more, most reads are candidates and all are searched.
const maxWindows = 1 << 21

var errManyWindows = errors.New("the queries are nearly everywhere")

// windows returns the stretches of the text in which reads may have a query, by place, and those that have one if it went through the text.
func (s *search) windows(ctx context.Context, x *fmindex.Index) (all, having []window, err error) {
	most := s.o.Mismatches + s.o.Within
	if x.HasRanks() && nearCost(s.patterns, most, x.Len()) < textCost(s.patterns, most, x.Len()) {
		all, err = s.windowsByRows(ctx, x, most)
	} else {
		all, having, err = s.windowsByText(ctx, x, most)
	}
	for _, list := range [][]window{all, having} {
		slices.SortFunc(list, func(a, b window) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Pattern, b.Pattern)) })
	}
	return all, having, err
}

// textCost returns about how much work it is to restore the text and go through it, in steps of a search in the index.
func textCost(patterns []pattern, most, bases int) float64 {
	compared := 0.0 // for each base
	for _, p := range patterns {
		compared += float64(most+1) * math.Pow(4, -float64(min(len(p.bases)/(most+1), 10)))
	}
	return float64(bases) * (0.5 + compared)
}

// nearCost returns about how many steps the search of the patterns with so many differences takes.
func nearCost(patterns []pattern, most, bases int) float64 {
	deep := int(math.Log2(float64(bases+1))/2) + 2 // so many bases are rarely twice in the text
	longest := 0
	for _, p := range patterns {
		longest = max(longest, len(p.bases))
	}
	steps := 0.0
	for depth := 1; depth <= min(deep, longest); depth++ {
		term := 1.0
		for d := 0; d <= min(most, depth); d++ {
			steps += term
			term *= 3 * float64(depth-d) / float64(d+1)
		}
	}
	return steps * float64(len(patterns))
}

// windowsByRows searches the index.
func (s *search) windowsByRows(ctx context.Context, x *fmindex.Index, most int) ([]window, error) {
	found := make([][]window, len(s.patterns))
	errs := make([]error, len(s.patterns))
	var all atomic.Int64
	tasks.Each(len(s.patterns), s.o.Threads, func(_, i int) {
		if errs[i] = ctx.Err(); errs[i] != nil {
			return
		}
		p := &s.patterns[i]
		var places []uint32
		x.Near(p.bases, min(most, len(p.bases)-1), func(r fmindex.Rows) bool {
			if all.Add(int64(r.Count())) > maxWindows {
				errs[i] = errManyWindows
				return false
			}
			places = r.Append(places, r.Count())
			return true
		})
		if errs[i] == nil {
			errs[i] = x.Locate(places)
		}
		if errs[i] != nil {
			return
		}
		for _, at := range places {
			if x.Whole(int(at), len(p.bases)) {
				found[i] = append(found[i], window{at, uint32(i)})
			}
		}
	})
	return joinWindows(found, errs)
}

// windowsByText goes through the text.
func (s *search) windowsByText(ctx context.Context, x *fmindex.Index, most int) (near, having []window, err error) {
	scanner := s.scanner(most)
	longest := 0
	for _, p := range s.patterns {
		longest = max(longest, len(p.bases))
	}
	const each = 4 // chunks at once; the beginning of the next one is needed as well
	chunks := x.Chunks()
	groups := (chunks + each - 1) / each
	var all atomic.Int64
	found, same, errs := make([][]window, groups), make([][]window, groups), make([]error, groups)
	tasks.Each(groups, s.o.Threads, func(_, g int) {
		if errs[g] = ctx.Err(); errs[g] != nil {
			return
		}
		first := g * each
		last := min(first+each, chunks)
		from, _ := x.Chunk(first)
		_, end := x.Chunk(last - 1)
		more := last
		for more < chunks {
			if _, to := x.Chunk(more - 1); to-end >= longest {
				break
			}
			more++
		}
		var text []byte
		if text, errs[g] = x.AppendText(nil, first, more); errs[g] != nil {
			return
		}
		text = text[:min(len(text), end-from+longest-1)]
		scanner.Scan(text, func(m scan.Match) bool {
			at := from + m.At
			if at < end && x.Whole(at, len(s.patterns[m.Sequence].bases)) {
				w := window{uint32(at), uint32(m.Sequence)}
				if found[g] = append(found[g], w); m.Differences <= s.o.Mismatches {
					same[g] = append(same[g], w)
				}
				if all.Add(1) > maxWindows {
					errs[g] = errManyWindows
				}
			}
			return errs[g] == nil
		})
	})
	near, err = joinWindows(found, errs)
	return near, slices.Concat(same...), err
}

// joinWindows returns all windows, or the first error.
func joinWindows(found [][]window, errs []error) ([]window, error) {
	for _, err := range errs {
		if err != nil && !errors.Is(err, errManyWindows) {
			return nil, err
		}
	}
	if slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
		return nil, errManyWindows
	}
	return slices.Concat(found...), nil
}
