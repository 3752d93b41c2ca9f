package packing

import (
	"context"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/forms"
	"orcomgo/compress/names"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
	"orcomgo/compress/twobit"
)

// columnEncoder is the row of a column in the table of what encodes columns.
type columnEncoder struct {
	// encode returns the section of member m of a slice; of all of them for a column that they share.
	encode func(ctx context.Context, e *Encoder, cols *[2]*columns.Columns, m int) ([]byte, error)
	// afterAssembly: encode needs the pseudogenome.
	afterAssembly bool
}

// encoders are by column.
var encoders = [archive.Columns]columnEncoder{
	archive.Lengths: {encode: func(_ context.Context, _ *Encoder, cols *[2]*columns.Columns, m int) ([]byte, error) {
		return seqs.EncodeLengths(cols[m].Lengths), nil
	}},
	archive.Forms: {encode: func(_ context.Context, _ *Encoder, cols *[2]*columns.Columns, m int) ([]byte, error) {
		return forms.Encode(&cols[m].Forms), nil
	}},
	archive.Names: {encode: encodeNamesColumn},
	archive.Quals: {encode: encodeQuals},
	archive.Seqs:  {encode: encodeSeqs, afterAssembly: true},
}

// encodeNamesColumn codes the names of second mates given those of the first, and so those of further mates, which are in slices of their own.
func encodeNamesColumn(_ context.Context, e *Encoder, cols *[2]*columns.Columns, m int) ([]byte, error) {
	c := cols[m]
	first := c.LeadNames
	if m == 1 {
		first = cols[0].Names
	}
	if first == nil && e.inputs[c.Input].TwoBit && c.Records >= ManyNames {
		return names.EncodeLight(c.Names, c.Records), nil
	}
	return e.EncodeNames(c, first)
}

func encodeQuals(ctx context.Context, e *Encoder, cols *[2]*columns.Columns, m int) (_ []byte, err error) {
	c := cols[m]
	in := quals.Input{Quals: c.Quals, Lengths: c.Lengths, Records: c.Records, Progress: c.Coded}
	if c.ByBases {
		if in.Bases, err = e.enc.Letters(ctx, make([]byte, 0, c.Bases()+letterSlack), columns.SeqColumn(c)); err != nil {
			return nil, err
		}
	}
	if p := e.primers[c.Input]; p != nil && p.from == c.From {
		return p.encodeLeading(in, e.level), nil
	} else if p != nil {
		in.Primer = p.primer
	}
	return quals.Encode(in, e.level), nil
}

func encodeSeqs(ctx context.Context, e *Encoder, cols *[2]*columns.Columns, _ int) ([]byte, error) {
	if e.inputs[cols[0].Input].TwoBit {
		return twobit.Encode(cols[0].Letters), nil
	}
	first, mate := columns.SeqColumns(cols)
	return e.enc.EncodeSlice(ctx, first, mate)
}
