package compress

import (
	"context"
	"fmt"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/quals"
)

var qualsColumn = column{
	id: archive.Quals,
	kept: func(o record.Options, kind record.Kind) bool {
		return !o.ReadsOnly && kind.Format().Quals && o.Quality != record.QualityDrop
	},
	fromBins: bins.WantLengths,
	gather: func(c *columns, from []stretch) error {
		room := 0
		for _, s := range from {
			room += s.b.baseOffset(s.hi) - s.b.baseOffset(s.lo)
		}
		c.quals = make([]byte, 0, room) // a kept column is not nil, however empty
		for _, s := range from {
			var err error
			if c.quals, err = s.b.appendQuals(c.quals, s.lo, s.hi); err != nil {
				return err
			}
		}
		return nil
	},
	permute: func(c *columns, p *permutation) { c.quals = p.bytes(c.quals) },
	sum:     func(c *columns) uint64 { return archive.Hash64(c.quals) },
	encode: func(ctx context.Context, e *encoder, cols *[2]*columns, m int) (_ []byte, err error) {
		c := cols[m]
		in := quals.Input{Quals: c.quals, Lengths: c.lengths, Records: c.records, Progress: c.coded}
		if c.byBases {
			if in.Bases, err = e.enc.Letters(ctx, make([]byte, 0, c.bases()+letterSlack), seqColumn(c)); err != nil {
				return nil, err
			}
		}
		if p := e.primers[c.input]; p != nil && p.from == c.from {
			return p.encodeLeading(in, e.level), nil
		} else if p != nil {
			in.Primer = p.primer
		}
		return quals.Encode(in, e.level), nil
	},
	needs:        []need{{archive.Lengths, sameMember}},
	needsByBases: []need{{archive.Lengths, sameMember}, {archive.Seqs, sameMember}},
	decode: func(p *packed, b *batch, m int, data []byte) (err error) {
		c := b.cols[m]
		in := quals.Input{Lengths: c.lengths, Records: c.records, First: c.first, Progress: c.coded}
		if c.byBases {
			in.Bases = c.letters
		}
		if n, ok := quals.HasPrimer(data, in); quals.NeedsPrimer(data) || ok && n <= c.first {
			if in.Primer, err = p.primers.get(p, c.input); err != nil {
				return err
			}
		}
		if c.quals, err = quals.Decode(data, in, nil); err != nil {
			return err
		}
		if c.quals == nil {
			c.quals = []byte{}
		}
		if got, want := uint64(len(c.quals)), c.lengths.Sum(0, c.first); got != want {
			return fmt.Errorf("%d of them for %d bases", got, want)
		}
		return nil
	},
}
