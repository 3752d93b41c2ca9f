package compress

import (
	"bytes"
	"slices"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
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
