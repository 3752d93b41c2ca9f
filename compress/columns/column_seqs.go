package columns

import (
	"sort"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
)

// The sequences of all members of a slice are in one section, given the qualities, unless these are given the sequences. Those of one
// member need no qualities of the other.
var seqsColumn = column{
	id:       archive.Seqs,
	fromBins: bins.WantLengths,
	gather:   gatherSeqs,
	permute: func(c *Columns, p *Permutation) {
		c.Letters = p.bytes(c.Letters)
		c.Exceptions = c.Exceptions.Permute(p.Perm, c.Exceptions.Reads())
	},
}

// SeqColumns returns a slice's columns as the sequence coder takes them; the second is nil
// without mates.
func SeqColumns(cols *[2]*Columns) (first, mate *seqs.Column) {
	if cols[1] != nil {
		mate = SeqColumn(cols[1])
	}
	return SeqColumn(cols[0]), mate
}

func SeqColumn(c *Columns) *seqs.Column {
	s := &seqs.Column{Input: c.Input, From: c.From + uint64(c.Half/2), Alternate: c.Half > 0, Perm: c.Perm, Records: c.Records,
		Run: c.Run, At: c.At,
		Lengths: c.Lengths, Exceptions: c.Exceptions, First: c.First, Skip: c.Skip, Layout: c.Layout, Lines: c.InLines(), Memory: c.Lines,
		Progress: c.BasesCoded}
	if !c.ByBases {
		s.Quals = c.Quals
	}
	if c.Spans != nil {
		s.Wanted = func(i int) bool {
			k := sort.Search(len(c.Spans), func(k int) bool { return c.Spans[k].Hi > i })
			return k < len(c.Spans) && c.Spans[k].Lo <= i
		}
	}
	return s
}

// gatherSeqs sets the letters of c where the blocks have their reads; elsewhere its exceptions.
func gatherSeqs(c *Columns, from []stretch) (err error) {
	base := 0 // records of c before the stretch
	for _, s := range from {
		f := func(e record.Exception) error {
			e.Read = uint32(int(e.Read) - s.lo + base)
			c.Exceptions.Append(e)
			return nil
		}
		if s.b.letters {
			at := len(c.Letters)
			if c.Letters, err = s.b.AppendSequencesOf(c.Letters, s.lo, s.hi); err != nil {
				return err
			}
			read := s.lo // the read that begins at
			f = func(e record.Exception) error {
				for ; read < int(e.Read); read++ {
					at += s.b.Lengths.Of(read)
				}
				return record.ApplyException(c.Letters[at:at+s.b.Lengths.Of(read)], e)
			}
		}
		if err := s.b.Exceptions(s.lo, s.hi, f); err != nil {
			return err
		}
		base += s.hi - s.lo
	}
	return nil
}
