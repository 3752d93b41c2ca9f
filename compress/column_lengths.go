package compress

import (
	"orcomgo/bins"
	"orcomgo/compress/archive"
)

var lengthsColumn = column{
	id:       archive.Lengths,
	fromBins: bins.WantLengths,
	gather:   gatherLengths,
	permute:  func(c *columns, p *permutation) { c.lengths = c.lengths.Permute(p.perm) },
}

func gatherLengths(c *columns, from []stretch) error {
	same := true
	for _, s := range from {
		same = same && s.b.Lengths.Each == nil && s.b.Lengths.Fixed == from[0].b.Lengths.Fixed
	}
	switch {
	case same:
		c.lengths.Fixed = from[0].b.Lengths.Fixed
	case len(from) == 1:
		c.lengths = from[0].b.Lengths.Slice(from[0].lo, from[0].hi)
	default:
		c.lengths.Each = make([]uint32, 0, c.records)
		for _, s := range from {
			for i := s.lo; i < s.hi; i++ {
				c.lengths.Each = append(c.lengths.Each, uint32(s.b.Lengths.Of(i)))
			}
		}
	}
	return nil
}
