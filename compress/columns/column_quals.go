package columns

import (
	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
)

var qualsColumn = column{
	id: archive.Quals,
	kept: func(o record.Options, kind record.Kind) bool {
		return !o.ReadsOnly && kind.Format().Quals && o.Quality != record.QualityDrop
	},
	fromBins: bins.WantLengths,
	gather: func(c *Columns, from []stretch) error {
		room := 0
		for _, s := range from {
			room += s.b.baseOffset(s.hi) - s.b.baseOffset(s.lo)
		}
		c.Quals = make([]byte, 0, room) // a kept column is not nil, however empty
		for _, s := range from {
			var err error
			if c.Quals, err = s.b.appendQuals(c.Quals, s.lo, s.hi); err != nil {
				return err
			}
		}
		return nil
	},
	permute: func(c *Columns, p *Permutation) { c.Quals = p.bytes(c.Quals) },
	sum:     func(c *Columns) uint64 { return archive.Hash64(c.Quals) },
}
