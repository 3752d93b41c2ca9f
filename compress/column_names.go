package compress

import (
	"bytes"
	"context"
	"fmt"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/names"
)

// The names of second mates are coded given those of the first, and so are those of further mates, which are in slices of their own.
var namesColumn = column{
	id:   archive.Names,
	kept: func(o record.Options, _ record.Kind) bool { return !o.ReadsOnly && !o.DropNames },
	gather: func(c *columns, from []stretch) error {
		c.names = []byte{} // a kept column is not nil, however empty
		for _, s := range from {
			p, err := s.b.names(s.lo, s.hi)
			if err != nil {
				return err
			}
			c.names = join(c.names, p, len(from))
		}
		return nil
	},
	permute: permuteNames,
	sum:     func(c *columns) uint64 { return archive.Hash64(c.names) },
	encode: func(_ context.Context, e *encoder, cols *[2]*columns, m int) ([]byte, error) {
		c := cols[m]
		if m == 1 && cols[0].names != nil {
			return names.EncodeMate(c.names, cols[0].names, c.records), nil
		}
		if c.leadNames != nil {
			return names.EncodeMate(c.names, c.leadNames, c.records), nil
		}
		if e.inputs[c.input].TwoBit && c.records >= manyNames {
			return names.EncodeLight(c.names, c.records), nil
		}
		return names.Encode(c.names, c.records), nil
	},
	needs: []need{{archive.Names, firstMember}},
	decode: func(p *packed, b *batch, m int, data []byte) (err error) {
		c, want := b.cols[m], b.slice.Members()[m].NamesLen
		switch lead := p.leads[b.slice]; {
		case m == 1:
			c.names, err = names.DecodeMatePrefix(data, b.cols[0].names, c.records, c.first, want)
		case lead != nil:
			var given []byte
			if given, err = p.leadNames.forFurther(p, lead, c.first); err == nil {
				c.names, err = names.DecodeMatePrefix(data, given, c.records, c.first, want)
			}
		case p.hasFurther[b.slice]:
			c.names, err = p.leadNames.get(p, b.slice, c.first)
		default:
			c.names, err = names.DecodePrefix(data, c.records, c.first, want)
		}
		if err == nil && c.first == c.records && uint64(len(c.names)) != want {
			err = fmt.Errorf("%d bytes where the manifest says %d", len(c.names), want)
		}
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
