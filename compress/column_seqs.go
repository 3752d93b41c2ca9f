package compress

import (
	"context"
	"fmt"
	"slices"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
)

// Sequences are coded for all members of a slice together, given the qualities of all.
var seqsColumn = column{
	id:       archive.Seqs,
	fromBins: bins.WantLengths | bins.WantExceptions,
	gather:   gatherSeqs,
	permute: func(c *columns, p *permutation) {
		c.letters = p.bytes(c.letters)
		if len(c.exceptions) == 0 {
			return
		}
		inverse := p.inverse()
		c.exceptions = slices.Clone(c.exceptions)
		for i := range c.exceptions {
			c.exceptions[i].Read = inverse[c.exceptions[i].Read]
		}
		sortExceptions(c.exceptions)
	},
	afterAssembly: true,
	encode: func(ctx context.Context, e *encoder, cols *[2]*columns, _ int) ([]byte, error) {
		first, mate := seqColumns(cols)
		return e.enc.EncodeSlice(ctx, first, mate)
	},
	needs: []need{{archive.Lengths, allMembers}, {archive.Quals, allMembers}},
	prepare: func(ctx context.Context, p *packed) error {
		return p.shared.wait(ctx, func() error { return p.pool.do(ctx, p.decodeShared) })
	},
	decode: func(p *packed, b *batch, _ int, data []byte) error {
		first, mate := seqColumns(&b.cols)
		decoded, err := p.dec.DecodeSlice(data, first, mate)
		if err != nil {
			return err
		}
		for m, mem := range b.slice.Members() {
			if got := uint64(len(decoded[m])); got != mem.Bases {
				return fmt.Errorf("%d bases where the manifest says %d", got, mem.Bases)
			}
			b.cols[m].letters = decoded[m]
		}
		return nil
	},
}

// seqColumns returns a slice's columns as the sequence coder takes them; the second is nil
// without mates.
func seqColumns(cols *[2]*columns) (first, mate *seqs.Column) {
	if cols[1] != nil {
		mate = seqColumn(cols[1])
	}
	return seqColumn(cols[0]), mate
}

func seqColumn(c *columns) *seqs.Column {
	return &seqs.Column{Input: c.input, From: c.from, Perm: c.perm, Records: c.records, Run: c.run, At: c.at,
		Lengths: c.lengths, Exceptions: c.exceptions, Quals: c.quals}
}

func gatherSeqs(c *columns, from []stretch) (err error) {
	base := 0 // records of c before the stretch
	for _, s := range from {
		if s.b.letters {
			if c.letters, err = s.b.AppendSequencesOf(c.letters, s.lo, s.hi); err != nil {
				return err
			}
		}
		for _, e := range record.ExceptionsOf(s.b.Exceptions, uint32(s.lo), uint32(s.hi)) {
			e.Read = uint32(int(e.Read) - s.lo + base)
			c.exceptions = append(c.exceptions, e)
		}
		base += s.hi - s.lo
	}
	return nil
}

func sortExceptions(es []record.Exception) {
	slices.SortFunc(es, func(a, b record.Exception) int {
		if a.Read != b.Read {
			return int(a.Read) - int(b.Read)
		}
		return int(a.Start) - int(b.Start)
	})
}
