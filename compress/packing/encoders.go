package packing

import (
	"context"
	"sync"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/forms"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
	"orcomgo/compress/slicing"
	"orcomgo/compress/source"
	"orcomgo/compress/twobit"
	"orcomgo/compress/workers"
)

// columnEncoder is the row of a column in the table of what encodes columns.
type columnEncoder struct {
	// encode returns the section of member m of a slice; of all of them for a column that they share.
	encode func(ctx context.Context, e *encoder, cols *[2]*columns.Columns, m int) ([]byte, error)
	// after, if not nil, waits for what encode needs beside the columns of the slice. It holds no worker while it waits.
	after func(ctx context.Context, e *encoder, pool workers.Pool, spec *slicing.Spec, c *columns.Columns) error
	// urgent, if not nil, reports whether other slices wait for the column, so that it goes before theirs.
	urgent func(e *encoder, c *columns.Columns) bool
}

// encoder turns slices of the bins into sections.
type encoder struct {
	*gatherer
	progress *workers.Meter
	primers  map[columns.Reads]*inputPrimer
	links    nameLinks
	device   *quals.Device
	single   bool       // memory has room for one slice
	turn     sync.Mutex // see alone
}

// newEncoder returns an encoder of all slices. Names and qualities are coded, and their progress is reported, while reads are laid out.
func newEncoder(p *packer) *encoder {
	total := uint64(0)
	for i := range p.specs {
		total += p.specs[i].Text
	}
	e := &encoder{progress: workers.NewMeter(p.o.Progress, "pack", total, 0),
		single:  workers.InMemory(p.memoryBeside(), textsOf(p.specs)) == 1,
		primers: newInputPrimers(p.specs, &p.man, &p.o), links: newNameLinks(p.specs, &p.man, &p.o)}
	if p.o.GPU && len(e.primers) > 0 && len(p.specs) >= source.LeastOnGPU {
		e.device = quals.OpenDevice(p.pool.ReleaseUntilIdle, p.o.Note)
	}
	e.gatherer = newGatherer(p, func(input int, from uint64) int { return e.links[nameKey{columns.Reads{Input: input}, from}].ahead() })
	return e
}

// encoders are by column.
var encoders = [archive.Columns]columnEncoder{
	archive.Lengths: {encode: func(_ context.Context, _ *encoder, cols *[2]*columns.Columns, m int) ([]byte, error) {
		return seqs.EncodeLengths(cols[m].Lengths), nil
	}},
	archive.Forms: {encode: encodeForms, after: afterBases},
	archive.Names: {encode: encodeNames, after: afterNamesBefore},
	archive.Quals: {encode: encodeQuals, after: afterPrimer, urgent: urgentQuals},
	archive.Seqs:  {encode: encodeSeqs, after: afterLayout},
}

// afterLayout waits until the reads of the slice's part are laid out and in memory. A slice of a run got its columns after that.
func afterLayout(ctx context.Context, e *encoder, pool workers.Pool, spec *slicing.Spec, c *columns.Columns) error {
	if spec.Run != nil || e.man.Inputs[c.Input].TwoBit {
		return nil
	}
	return e.layOut(ctx, pool, spec.Phase, c)
}

// afterBases waits for the letters of reads if tags are given them.
func afterBases(ctx context.Context, e *encoder, pool workers.Pool, spec *slicing.Spec, c *columns.Columns) error {
	if columns.ByBases(&e.man.Inputs[c.Input], archive.Forms) {
		return afterLayout(ctx, e, pool, spec, c)
	}
	return nil
}

// afterPrimer waits until there is the primer of the input, or it is known that there is none; of qualities that are given the letters, for
// these.
func afterPrimer(ctx context.Context, e *encoder, pool workers.Pool, spec *slicing.Spec, c *columns.Columns) error {
	if c.ByBases {
		return afterLayout(ctx, e, pool, spec, c)
	}
	if p := e.primers[c.Reads()]; p != nil && p.from != c.From {
		return workers.Wait(ctx, p.ready)
	}
	return nil
}

// urgentQuals reports whether the qualities of a slice begin with the primer of their input, or are coded by a device, which codes those of
// many slices side by side.
func urgentQuals(e *encoder, c *columns.Columns) bool {
	p := e.primers[c.Reads()]
	return p != nil && p.from == c.From || e.device != nil
}

// afterNamesBefore waits until there are the models that the names begin with.
func afterNamesBefore(ctx context.Context, e *encoder, _ workers.Pool, _ *slicing.Spec, c *columns.Columns) error {
	return e.links[nameKey{c.Reads(), c.From}].wait(ctx)
}

// encodeNames codes the names of second mates given those of the first, and so those of further mates, which are in slices of
// their own.
func encodeNames(_ context.Context, e *encoder, cols *[2]*columns.Columns, m int) ([]byte, error) {
	c := cols[m]
	first := c.LeadNames
	if m == 1 {
		first = cols[0].Names
	}
	read := func(from uint64, n int) ([]byte, error) { return e.names(c, from, n) }
	return e.links[nameKey{c.Reads(), c.From}].encode(c, first, read)
}

func encodeQuals(ctx context.Context, e *encoder, cols *[2]*columns.Columns, m int) (_ []byte, err error) {
	c := cols[m]
	in := quals.Input{Quals: c.Quals, Lengths: c.Lengths, Records: c.Records, Progress: c.QualsCoded}
	if c.ByBases {
		if in.Bases, err = e.lettersOf(ctx, c); err != nil {
			return nil, err
		}
	}
	if p := e.primers[c.Reads()]; p != nil && p.from == c.From {
		return p.encodeLeading(in), nil
	} else if p != nil {
		in.Primer, in.Device = p.primer, e.device
	}
	defer e.alone()()
	return quals.Encode(in), nil
}

// alone waits, where memory has room for one slice, until nobody else codes qualities or sequences: their coders take 12 to 24 MB beside
// the columns. The function that it returns ends that.
func (e *encoder) alone() (end func()) {
	if !e.single {
		return func() {}
	}
	e.pool.ReleaseWhile(e.turn.Lock) // who has the turn may wait for a place in the pool
	return e.turn.Unlock
}

func encodeForms(ctx context.Context, e *encoder, cols *[2]*columns.Columns, m int) ([]byte, error) {
	c := cols[m]
	if !columns.ByBases(&e.man.Inputs[c.Input], archive.Forms) {
		return forms.Encode(&c.Forms, nil), nil
	}
	letters, err := e.lettersOf(ctx, c)
	if err != nil {
		return nil, err
	}
	return forms.Encode(&c.Forms, c.Sequences(letters)), nil
}

func encodeSeqs(ctx context.Context, e *encoder, cols *[2]*columns.Columns, _ int) ([]byte, error) {
	if e.man.Inputs[cols[0].Input].TwoBit {
		return twobit.Encode(cols[0].Letters), nil
	}
	first, mate := columns.SeqColumns(cols)
	defer e.alone()()
	return e.enc.EncodeSlice(ctx, first, mate)
}
