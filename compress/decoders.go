package compress

import (
	"context"
	"fmt"
	"orcomgo/compress/archive"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
)

// decoder is the row of a column in the table of what decodes columns.
type decoder struct {
	// needs says which columns must be decoded before this one.
	needs []need
	// needsByBases is needs for inputs with QualsByBases; nil if that is the same.
	needsByBases []need
	// prepare, if not nil, does what all slices need first. It holds no worker while it waits.
	prepare func(ctx context.Context, p *packed) error
	// decode sets the column in b, whose needs are there.
	decode func(p *packed, b *batch, m int, data []byte) error
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
var decoders [archive.Columns]decoder

// The decoders refer to columns, whose decoding refers to the table.
func init() {
	decoders = [archive.Columns]decoder{
		archive.Lengths: {decode: decodeLengths},
		archive.Forms: {decode: func(_ *packed, b *batch, m int, data []byte) (err error) {
			b.cols[m].forms, err = decodeForms(data, b.cols[m].records)
			return err
		}},
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
			prepare:      func(ctx context.Context, p *packed) error { return p.needShared(ctx) },
		},
	}
}

func decodeLengths(_ *packed, b *batch, m int, data []byte) (err error) {
	c := b.cols[m]
	if c.lengths, err = seqs.DecodeLengths(data, c.records); err != nil {
		return err
	}
	if got, want := c.bases(), b.slice.Members()[m].Bases; got != want {
		return fmt.Errorf("they sum to %d, the manifest says %d", got, want)
	}
	return nil
}

func decodeNames(p *packed, b *batch, m int, data []byte) (err error) {
	var given []byte
	if m == 1 {
		given = b.cols[0].names
	}
	b.cols[m].names, err = p.names.get(p, b.slice, m, b.cols[m].first, data, given)
	return err
}

func decodeQuals(p *packed, b *batch, m int, data []byte) (err error) {
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
}

func decodeSeqs(p *packed, b *batch, _ int, data []byte) error {
	if c := b.cols[0]; p.man.Inputs[c.input].TwoBit {
		return decodeTwoBit(c, p.memory, p.threads, data)
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
}
