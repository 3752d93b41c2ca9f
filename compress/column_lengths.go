package compress

import (
	"context"
	"fmt"

	"orcomgo/bins"
	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
)

var lengthsColumn = column{
	id:       archive.Lengths,
	fromBins: bins.WantLengths,
	gather:   gatherLengths,
	permute:  func(c *columns, p *permutation) { c.lengths = c.lengths.Permute(p.perm) },
	encode: func(_ context.Context, _ *encoder, cols *[2]*columns, m int) ([]byte, error) {
		return seqs.EncodeLengths(cols[m].lengths), nil
	},
	decode: func(_ *packed, b *batch, m int, data []byte) (err error) {
		c := b.cols[m]
		if c.lengths, err = seqs.DecodeLengths(data, c.records); err != nil {
			return err
		}
		if got, want := c.bases(), b.slice.Members()[m].Bases; got != want {
			return fmt.Errorf("they sum to %d, the manifest says %d", got, want)
		}
		return nil
	},
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
