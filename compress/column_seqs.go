package compress

import (
	"context"
	"fmt"
	"sort"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
	"orcomgo/compress/twobit"
)

// The sequences of all members of a slice are in one section, given the qualities, unless these are given the sequences. Those of one member
// need no qualities of the other.
var seqsColumn = column{
	id:       archive.Seqs,
	fromBins: bins.WantLengths,
	gather:   gatherSeqs,
	permute: func(c *columns, p *permutation) {
		c.letters = p.bytes(c.letters)
		c.exceptions = c.exceptions.Permute(p.perm, c.exceptions.Reads())
	},
	afterAssembly: true,
	encode: func(ctx context.Context, e *encoder, cols *[2]*columns, _ int) ([]byte, error) {
		if e.inputs[cols[0].input].TwoBit {
			return twobit.Encode(cols[0].letters), nil
		}
		first, mate := seqColumns(cols)
		return e.enc.EncodeSlice(ctx, first, mate)
	},
	needs:        []need{{archive.Lengths, allMembers}, {archive.Quals, allMembers}},
	needsByBases: []need{{archive.Lengths, allMembers}},
	prepare: func(ctx context.Context, p *packed) error {
		// All passes need it, so the end of one does not keep it from being done.
		return p.shared.wait(ctx, func() error { return p.pool.do(context.WithoutCancel(ctx), p.decodeShared) })
	},
	decode: func(p *packed, b *batch, _ int, data []byte) error {
		if c := b.cols[0]; p.man.Inputs[c.input].TwoBit {
			return c.decodeTwoBit(p.memory, p.threads, data)
		}
		first, mate := seqColumns(&b.cols)
		decoded, err := p.dec.DecodeSlice(data, first, mate)
		if err != nil {
			return err
		}
		for m := range b.slice.Members() {
			c := b.cols[m]
			want := c.lengths.Sum(0, c.first)
			if c.inLines() {
				want += uint64(c.first)
			}
			if got := uint64(len(decoded[m])); got != want && !c.skip {
				return fmt.Errorf("%d bases where the lengths say %d", got, want)
			}
			c.letters = decoded[m]
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
	s := &seqs.Column{Input: c.input, From: c.from, Perm: c.perm, Records: c.records, Run: c.run, At: c.at,
		Lengths: c.lengths, Exceptions: c.exceptions, First: c.first, Skip: c.skip, Layout: c.layout, Lines: c.inLines(), Memory: c.lines,
		Progress: c.coded}
	if !c.byBases {
		s.Quals = c.quals
	}
	if c.spans != nil {
		s.Wanted = func(i int) bool {
			k := sort.Search(len(c.spans), func(k int) bool { return c.spans[k].hi > i })
			return k < len(c.spans) && c.spans[k].lo <= i
		}
	}
	return s
}

// gatherSeqs sets the letters of c where the blocks have their reads; elsewhere its exceptions.
func gatherSeqs(c *columns, from []stretch) (err error) {
	base := 0 // records of c before the stretch
	for _, s := range from {
		f := func(e record.Exception) error {
			e.Read = uint32(int(e.Read) - s.lo + base)
			c.exceptions.Append(e)
			return nil
		}
		if s.b.letters {
			at := len(c.letters)
			if c.letters, err = s.b.AppendSequencesOf(c.letters, s.lo, s.hi); err != nil {
				return err
			}
			read := s.lo // the read that begins at
			f = func(e record.Exception) error {
				for ; read < int(e.Read); read++ {
					at += s.b.Lengths.Of(read)
				}
				return record.ApplyException(c.letters[at:at+s.b.Lengths.Of(read)], e)
			}
		}
		if err := s.b.exceptions(s.lo, s.hi, f); err != nil {
			return err
		}
		base += s.hi - s.lo
	}
	return nil
}
