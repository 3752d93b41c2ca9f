package restoring

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
)

// RecordRange are the records From..To-1 of an input, counted from 0. What lies beyond the
// input's end is left out.
type RecordRange struct{ From, To uint64 }

// Place is a record of an input, counted from 0.
type Place struct {
	Input  int
	Record uint64
}

// MarshalJSON writes the records as people count them: from 1 on, both included.
func (r RecordRange) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"from":%d,"to":%d}`, r.From+1, r.To), nil
}

// checkRanges makes sure that ranges are ascending, apart and not empty.
func checkRanges(ranges []RecordRange) error {
	for i, r := range ranges {
		switch {
		case r.From >= r.To:
			return fmt.Errorf("there are no records from %d to %d", r.From+1, r.To)
		case i > 0 && r.From < ranges[i-1].To:
			return fmt.Errorf("records %d to %d are not after record %d", r.From+1, r.To, ranges[i-1].To)
		}
	}
	return nil
}

// union returns the records that are in either list; not nil, which would be all records.
func union(a, b []RecordRange) []RecordRange {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y RecordRange) int { return cmp.Compare(x.From, y.From) })
	out := []RecordRange{}
	for _, r := range all {
		if k := len(out); k > 0 && r.From <= out[k-1].To {
			out[k-1].To = max(out[k-1].To, r.To)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// spansOf returns which records of a slice are in ranges; nil ranges are all.
func spansOf(s *archive.Slice, ranges []RecordRange) []columns.Span {
	if ranges == nil {
		return []columns.Span{{Lo: 0, Hi: s.Records}}
	}
	var spans []columns.Span
	end := s.From + uint64(s.Records)
	first := sort.Search(len(ranges), func(i int) bool { return ranges[i].To > s.From })
	for _, r := range ranges[first:] {
		if r.From >= end {
			break
		}
		spans = append(spans, columns.Span{Lo: int(max(r.From, s.From) - s.From), Hi: int(min(r.To, end) - s.From)})
	}
	return spans
}
