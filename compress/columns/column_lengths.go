package columns

import (
	"orcomgo/bins"
	"orcomgo/compress/archive"
)

var lengthsColumn = column{
	id:       archive.Lengths,
	fromBins: bins.WantLengths,
	gather:   gatherLengths,
	permute:  func(c *Columns, p *Permutation) { c.Lengths = c.Lengths.Permute(p.Perm) },
}

func gatherLengths(c *Columns, from []stretch) error {
	same := true
	for _, s := range from {
		same = same && s.b.Lengths.Each == nil && s.b.Lengths.Fixed == from[0].b.Lengths.Fixed
	}
	switch {
	case same:
		c.Lengths.Fixed = from[0].b.Lengths.Fixed
	case len(from) == 1:
		c.Lengths = from[0].b.Lengths.Slice(from[0].lo, from[0].hi)
	default:
		c.Lengths.Each = make([]uint32, 0, c.Records)
		for _, s := range from {
			for i := s.lo; i < s.hi; i++ {
				c.Lengths.Each = append(c.Lengths.Each, uint32(s.b.Lengths.Of(i)))
			}
		}
	}
	return nil
}
