package compress

import (
	"bytes"
	"context"
	"slices"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/names"
)

// The names of second mates are coded given those of the first, and so are those of further mates, which are in slices of their own.
var namesColumn = column{
	id:   archive.Names,
	kept: func(o record.Options, _ record.Kind) bool { return !o.ReadsOnly && !o.DropNames },
	gather: func(c *columns, from []stretch) error {
		room := 0
		for _, s := range from {
			room += s.b.namesRoom(s.lo, s.hi)
		}
		c.names = make([]byte, 0, room) // a kept column is not nil, however empty
		for _, s := range from {
			var err error
			if c.names, err = s.b.appendNames(c.names, s.lo, s.hi); err != nil {
				return err
			}
		}
		c.names = slices.Clip(c.names)
		return nil
	},
	permute: permuteNames,
	sum:     func(c *columns) uint64 { return archive.Hash64(c.names) },
	encode: func(_ context.Context, e *encoder, cols *[2]*columns, m int) ([]byte, error) {
		c := cols[m]
		first := c.leadNames
		if m == 1 {
			first = cols[0].names
		}
		if first == nil && e.inputs[c.input].TwoBit && c.records >= manyNames {
			return names.EncodeLight(c.names, c.records), nil
		}
		return e.encodeNames(c, first)
	},
	needs: []need{{archive.Names, firstMember}},
	decode: func(p *packed, b *batch, m int, data []byte) (err error) {
		var given []byte
		if m == 1 {
			given = b.cols[0].names
		}
		b.cols[m].names, err = p.names.get(p, b.slice, m, b.cols[m].first, data, given)
		return err
	},
}

func permuteNames(c *columns, p *permutation) {
	if c.names == nil {
		return
	}
	starts := make([]int, c.records+1)
	for i := range c.records {
		starts[i+1] = starts[i] + bytes.IndexByte(c.names[starts[i]:], '\n') + 1
	}
	b := make([]byte, 0, len(c.names))
	for _, i := range p.perm {
		b = append(b, c.names[starts[i]:starts[i+1]]...)
	}
	c.names = b
}
