package source

import (
	"context"
	"fmt"
	"math"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/forms"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
	"orcomgo/compress/twobit"
	"orcomgo/compress/workers"
)

// decoder is the row of a column in the table of what decodes columns.
type decoder struct {
	// needs says which columns must be decoded before this one.
	needs []need
	// needsByBases is needs where columns.ByBases is true.
	needsByBases []need
	// prepare, if not nil, does what all slices need first. It holds no worker while it waits.
	prepare func(ctx context.Context, p *Packed) error
	// decode sets the column in b, whose needs are there.
	decode func(p *Packed, b *Decoded, m int, data []byte) error
}

// need is a column that another one can't be decoded without.
type need struct {
	id archive.Column
	of ofMembers
}

// ofMembers says of which members of a slice a column is needed.
type ofMembers int

const (
	sameMember  ofMembers = iota
	firstMember           // by the second one only
	allMembers
)

// decoders are by column.
var decoders = [archive.Columns]decoder{
	archive.Lengths: {decode: decodeLengths},
	archive.Forms: {
		decode:       decodeForms,
		needsByBases: []need{{archive.Lengths, sameMember}, {archive.Seqs, sameMember}},
	},
	archive.Names: {decode: decodeNames, needs: []need{{archive.Names, firstMember}}},
	archive.Quals: {
		decode:       decodeQuals,
		needs:        []need{{archive.Lengths, sameMember}},
		needsByBases: []need{{archive.Lengths, sameMember}, {archive.Seqs, sameMember}},
	},
	// The sequences of all members of a slice are in one section, given the qualities, unless these are given the sequences. Those of
	// one member need no qualities of the other.
	archive.Seqs: {
		decode:       decodeSeqs,
		needs:        []need{{archive.Lengths, allMembers}, {archive.Quals, allMembers}},
		needsByBases: []need{{archive.Lengths, allMembers}},
		prepare:      func(ctx context.Context, p *Packed) error { return p.NeedShared(ctx) },
	},
}

func decodeLengths(_ *Packed, b *Decoded, m int, data []byte) (err error) {
	c := b.Cols[m]
	if c.Lengths, err = seqs.DecodeLengths(data, c.Records); err != nil {
		return err
	}
	if got, want := c.Bases(), b.Slice.Members()[m].Bases; got != want {
		return fmt.Errorf("they sum to %d, the manifest says %d", got, want)
	}
	return nil
}

func decodeForms(p *Packed, b *Decoded, m int, data []byte) (err error) {
	c := b.Cols[m]
	var bases func(int) []byte
	if columns.ByBases(&p.Man.Inputs[c.Input], archive.Forms) {
		bases = c.Sequences(c.Letters)
	}
	limit := uint64(math.MaxUint64)
	if p.Man.Verified {
		limit = b.Slice.First.TextLen
		if m == 1 && !b.Slice.Halves() {
			limit = b.Slice.Mate.TextLen
		}
	}
	c.Forms, err = forms.Decode(data, c.Records, bases, limit)
	return err
}

func decodeNames(p *Packed, b *Decoded, m int, data []byte) (err error) {
	var given []byte
	if m == 1 {
		given = b.Cols[0].Names
	}
	b.Cols[m].Names, err = p.names.get(b.Slice, m, b.Cols[m].First, data, given)
	b.Cols[m].WorkDone(columns.NameWork * len(data))
	return err
}

func decodeQuals(p *Packed, b *Decoded, m int, data []byte) (err error) {
	c, k := b.Cols[m], &b.known[m]
	if s := b.Slice.Section(archive.Quals, m); k.Quals != nil && s.Len == k.Len && s.Hash == k.Hash {
		c.Quals = k.Quals
		c.QualsCoded(len(k.Quals))
		*k = KnownQuals{} // whoever has the columns may free them
		return checkQuals(c)
	}
	in := quals.Input{Lengths: c.Lengths, Records: c.Records, First: c.First, Device: p.Device, Progress: c.QualsCoded}
	if c.ByBases {
		in.Bases = c.Letters
	}
	if n, ok := quals.HasPrimer(data, in); quals.NeedsPrimer(data) || ok && n <= c.First {
		if in.Primer, err = p.primers.get(c.Reads(), c.QualsCoded); err != nil {
			return err
		}
	}
	if c.Quals, err = quals.Decode(data, in); err != nil {
		return err
	}
	if c.Quals == nil {
		c.Quals = []byte{}
	}
	return checkQuals(c)
}

// checkQuals returns an error if there are not as many qualities as the lengths say.
func checkQuals(c *columns.Columns) error {
	if got, want := uint64(len(c.Quals)), c.Lengths.Sum(0, c.First); got != want {
		return fmt.Errorf("%d of them for %d bases", got, want)
	}
	return nil
}

func decodeSeqs(p *Packed, b *Decoded, _ int, data []byte) error {
	if c := b.Cols[0]; p.Man.Inputs[c.Input].TwoBit {
		return decodeTwoBit(c, p.memory, data)
	}
	first, mate := columns.SeqColumns(&b.Cols)
	decoded, err := p.Seqs.DecodeSlice(data, first, mate)
	if err != nil {
		return err
	}
	for m := range b.Slice.Members() {
		c := b.Cols[m]
		want := c.Lengths.Sum(0, c.First)
		if c.InLines() {
			want += uint64(c.First)
		}
		if got := uint64(len(decoded[m])); got != want && !c.Skip {
			return fmt.Errorf("%d bases where the lengths say %d", got, want)
		}
		c.Letters = decoded[m]
	}
	return nil
}

// twoBitSlack is how many bytes more than a quarter of the bases twobit.Decode may take.
const twoBitSlack = 64

// decodeTwoBit sets the letters of c, or, if only text is wanted, the sequences: the batch is to be released then.
func decodeTwoBit(c *columns.Columns, memory *workers.Buffers, data []byte) error {
	s, err := twobit.Decode(memory.Get(int(c.Bases())/4+twoBitSlack), data, int(c.Bases()))
	if err != nil {
		return err
	}
	if c.Layout != nil {
		*c.Layout = *seqs.UnplacedLayout(c.Records)
	}
	n := int(c.Lengths.Sum(0, c.First))
	if c.AsText {
		c.TwoBit = s
	} else {
		c.Letters = s.AppendLetters(nil, 0, n)
		memory.Put(s.Memory())
	}
	return nil
}
