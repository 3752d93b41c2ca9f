package columns

import (
	"slices"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
)

// The names of second mates are coded given those of the first, and so are those of further mates, which are in slices of their own.
var namesColumn = column{
	id:   archive.Names,
	kept: func(o record.Options, _ record.Kind) bool { return !o.ReadsOnly && !o.DropNames },
	gather: func(c *Columns, from []stretch) error {
		room := 0
		for _, s := range from {
			// appendNames takes no other memory than for the names from the mark before the first record to the one after the last.
			room += int(s.b.nameMark(s.hi/MarkEvery+1) - s.b.nameMark(s.lo/MarkEvery))
		}
		c.Names = make([]byte, 0, room) // a kept column is not nil, however empty
		for _, s := range from {
			var err error
			if c.Names, err = s.b.appendNames(c.Names, s.lo, s.hi); err != nil {
				return err
			}
		}
		c.Names = slices.Clip(c.Names)
		return nil
	},
	permute: PermuteNames,
	sum:     func(c *Columns) uint64 { return archive.Hash64(c.Names) },
}

// PermuteNames puts the names of c in another order.
func PermuteNames(c *Columns, p *Permutation) {
	if c.Names == nil {
		return
	}
	starts, err := NameStarts(c.Names, c.Records)
	if err != nil {
		panic(err) // blocks have a name for each record
	}
	b := make([]byte, 0, len(c.Names))
	for _, i := range p.Perm {
		b = append(b, c.Names[starts[i]:starts[i+1]]...)
	}
	c.Names = b
}
