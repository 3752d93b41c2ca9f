package packing

import (
	"context"

	"golang.org/x/sync/errgroup"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/slicing"
	"orcomgo/compress/workers"
)

// write encodes all the slices, so many at once, and writes them, then the shared sections.
func (e *encoder) write(ctx context.Context, atOnce int) error {
	g, c := errgroup.WithContext(ctx)
	if e.o.Ready != nil {
		g.Go(e.o.Ready)
	}
	coded := make(chan struct{}) // when all slices are
	g.Go(func() (err error) {
		select {
		case <-e.enc.Idle():
		case <-coded:
		case <-c.Done():
			return c.Err()
		}
		e.digests, err = e.enc.Digests(c, func(input int) bool { return !e.man.Options.Exact(e.man.Inputs[input].Kind) })
		return err
	})
	g.Go(func() error {
		defer close(coded)
		done := 0 // slices
		for _, specs := range e.phases {
			e.layOutEarly(c, g, specs)
			encode := func(ctx context.Context, i int) (*encoded, error) { return e.encode(ctx, &specs[i]) }
			err := workers.InOrder(c, len(specs), atOnce, encode, func(i int, out *encoded) error { return e.add(done+i, out) })
			if err != nil {
				return err
			}
			done += len(specs)
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return e.writeShared()
}

// layOutEarly has the reads of a phase laid out at once, while the first slice gets its columns, unless slices are runs, for which that is
// the first thing to do.
func (e *encoder) layOutEarly(ctx context.Context, g *errgroup.Group, specs []slicing.Spec) {
	for i := range specs {
		spec := &specs[i]
		input := spec.First
		if spec.Run != nil {
			return
		}
		if spec.Records > 0 && e.kept[input][archive.Seqs] && !e.man.Inputs[input].TwoBit {
			g.Go(func() error {
				return e.layOut(ctx, e.pool, spec.Phase, &columns.Columns{Input: input, From: spec.From, Records: spec.Records})
			})
			return
		}
	}
}

// add writes slice i.
func (e *encoder) add(i int, out *encoded) (err error) {
	s := &e.man.Slices[i]
	if err := e.w.AddSlice(i, &out.slice, func(c archive.Column, m int) []byte { return out.sections[m][c] }); err != nil {
		return err
	}
	for m, mem := range out.slice.Texts() {
		in := &e.man.Inputs[mem.Input]
		if out.slice.From == 0 || out.min[m] < in.MinLen {
			in.MinLen = out.min[m]
		}
		in.MaxLen = max(in.MaxLen, out.max[m])
	}
	*s, e.written[i].sliceCheck, e.written[i].quals = out.slice, out.check, out.quals
	close(e.written[i].done)
	out.progress.End()
	return nil
}

// writeShared writes the shared sections, once all slices are written.
func (e *encoder) writeShared() error {
	e.man.Repeats = e.enc.Repeats()
	e.shared = e.enc.Shared()
	e.closeEncoder()
	for _, b := range e.shared {
		if err := e.w.AddShared(&e.man, b); err != nil {
			return err
		}
	}
	return e.w.End(&e.man)
}
