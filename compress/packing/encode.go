package packing

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/nameranges"
	"orcomgo/compress/names"
	"orcomgo/compress/slicing"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// encoded is a slice ready to be written.
type encoded struct {
	slice    archive.Slice              // sections still without place and checksum
	sections [2][archive.Columns][]byte // by member; of what members share, the first's
	quals    [2]source.KnownQuals       // by member
	check    sliceCheck
	min, max [2]uint32 // read lengths by member
	progress *workers.SliceMeter
}

// encode returns a slice; safe for concurrent use.
func (e *encoder) encode(ctx context.Context, spec *slicing.Spec) (*encoded, error) {
	pool := e.pool.InTurn(spec.Turn)
	out := &encoded{slice: spec.Slice()}
	cols, err := e.columnsOf(ctx, spec)
	if err != nil {
		return nil, err
	}
	out.check.perm, out.check.from = cols[0].Perm, cols[0].From
	texts := cols
	if spec.Interleaved {
		cols = columns.Halves(cols[0])
	}
	g, ctx := errgroup.WithContext(ctx)
	for m, mem := range out.slice.Members() {
		mem.Bases, mem.NamesLen = cols[m].Bases(), uint64(len(cols[m].Names))
	}
	work, units := columns.WorkOf(&e.man, &out.slice)
	out.progress = &workers.SliceMeter{M: e.progress, Sizes: func() (_, _ uint64) { return spec.Text, units }}
	for m, mem := range out.slice.Members() {
		cols[m].ByBases, cols[m].Coded, cols[m].Work = e.man.Inputs[mem.Input].QualsByBases, out.progress.Coded, work[m]
	}
	exact := e.man.Options.Exact(e.man.Inputs[out.slice.First.Input].Kind) // then the text is compared
	for m := range out.slice.Texts() {
		out.min[m], out.max[m] = texts[m].Lengths.Range(spec.Records)
		if exact {
			continue
		}
		g.Go(func() error {
			return pool.Do(ctx, func() error {
				out.check.sums[m] = columns.SumsOf(texts[m])
				return nil
			})
		})
	}
	// The last columns take longest, so they begin first.
	for id, col := range slices.Backward(encoders[:]) {
		for m, mem := range out.slice.Members() {
			if !e.kept[mem.Input][id] || columns.Shared(archive.Column(id)) && m > 0 {
				continue
			}
			g.Go(func() error {
				section, err := col.encodeColumn(ctx, e, spec, &cols, m)
				if out.sections[m][id] = section; err == nil && archive.Column(id) == archive.Quals {
					out.quals[m], err = e.decodeEarly(ctx, spec, cols[m], m, section)
				}
				return err
			})
		}
	}
	if e.man.NameRanges {
		g.Go(func() error {
			return pool.Do(ctx, func() error {
				var words nameranges.Range
				for m := range out.slice.Members() {
					words.AddNames(cols[m].Names)
				}
				out.slice.Words = words.Words()
				return nil
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for m, mem := range out.slice.Members() {
		mem.NamesContinue = names.Continues(out.sections[m][archive.Names])
	}
	if spec.Run == nil {
		e.blocks.Release(spec)
	}
	return out, nil
}

// encodeColumn waits for what the column of member m of a slice needs, and encodes it in the pool.
func (col *columnEncoder) encodeColumn(ctx context.Context, e *encoder, spec *slicing.Spec, cols *[2]*columns.Columns,
	m int) ([]byte, error) {
	pool := e.pool.InTurn(spec.Turn)
	if col.after != nil {
		if err := col.after(ctx, e, pool, spec, cols[m]); err != nil {
			return nil, err
		}
	}
	if col.urgent != nil && col.urgent(e, cols[m]) {
		pool = e.pool.InTurn(0)
	}
	var section []byte
	err := pool.Do(ctx, func() (err error) {
		section, err = col.encode(ctx, e, cols, m)
		return err
	})
	return section, err
}
