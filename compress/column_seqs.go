package compress

import (
	"sort"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
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
