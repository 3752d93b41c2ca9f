package compress

import (
	"context"
	"orcomgo/compress/archive"
	"orcomgo/compress/names"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
	"orcomgo/compress/twobit"
)

// columnEncoder is the row of a column in the table of what encodes columns.
type columnEncoder struct {
	// encode returns the section of member m of a slice; of all of them for a column that they share.
	encode func(ctx context.Context, e *encoder, cols *[2]*columns, m int) ([]byte, error)
	// afterAssembly: encode needs the pseudogenome.
	afterAssembly bool
}

// encoders are by column.
var encoders = [archive.Columns]columnEncoder{
	archive.Lengths: {encode: func(_ context.Context, _ *encoder, cols *[2]*columns, m int) ([]byte, error) {
		return seqs.EncodeLengths(cols[m].lengths), nil
	}},
	archive.Forms: {encode: func(_ context.Context, _ *encoder, cols *[2]*columns, m int) ([]byte, error) {
		return encodeForms(&cols[m].forms), nil
	}},
	archive.Names: {encode: encodeNamesColumn},
	archive.Quals: {encode: encodeQuals},
	archive.Seqs:  {encode: encodeSeqs, afterAssembly: true},
}

// encodeNamesColumn codes the names of second mates given those of the first, and so those of further mates, which are in slices of their own.
func encodeNamesColumn(_ context.Context, e *encoder, cols *[2]*columns, m int) ([]byte, error) {
	c := cols[m]
	first := c.leadNames
	if m == 1 {
		first = cols[0].names
	}
	if first == nil && e.inputs[c.input].TwoBit && c.records >= manyNames {
		return names.EncodeLight(c.names, c.records), nil
	}
	return e.encodeNames(c, first)
}

func encodeQuals(ctx context.Context, e *encoder, cols *[2]*columns, m int) (_ []byte, err error) {
	c := cols[m]
	in := quals.Input{Quals: c.quals, Lengths: c.lengths, Records: c.records, Progress: c.coded}
	if c.byBases {
		if in.Bases, err = e.enc.Letters(ctx, make([]byte, 0, c.bases()+letterSlack), seqColumn(c)); err != nil {
			return nil, err
		}
	}
	if p := e.primers[c.input]; p != nil && p.from == c.from {
		return p.encodeLeading(in, e.level), nil
	} else if p != nil {
		in.Primer = p.primer
	}
	return quals.Encode(in, e.level), nil
}

func encodeSeqs(ctx context.Context, e *encoder, cols *[2]*columns, _ int) ([]byte, error) {
	if e.inputs[cols[0].input].TwoBit {
		return twobit.Encode(cols[0].letters), nil
	}
	first, mate := seqColumns(cols)
	return e.enc.EncodeSlice(ctx, first, mate)
}
