package compress

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"orcomgo/compress/archive"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
)

// packed is the source that decodes .cdna.
type packed struct {
	r       *archive.Reader
	man     *archive.Manifest
	pool    workers
	threads int
	shared  *gate // sets dec
	dec     *seqs.Decoder
	checked *seqs.Checked // what need not be decoded again; mostly nil
}

func newPacked(r *archive.Reader, threads int) *packed {
	return &packed{r: r, man: r.Manifest(), pool: newWorkers(threads), threads: max(threads, 1), shared: newGate()}
}

// decodeShared decodes the shared sections. It takes as long as the qualities of many
// slices do, so slices begin without it.
func (p *packed) decodeShared() error {
	shared := make([][]byte, len(p.man.Shared))
	for i, s := range p.man.Shared {
		var err error
		if shared[i], err = p.r.Read(s, nil, sharedName(i)); err != nil {
			return err
		}
	}
	var err error
	if p.dec, err = seqs.NewDecoder(shared, seqs.Config{Threads: p.threads, Aside: p.pool.aside}, p.checked); err != nil {
		return p.r.Corrupt("shared sections", err)
	}
	return nil
}

func sharedName(i int) string { return fmt.Sprintf("shared section %d", i+1) }

func (p *packed) prepare([]int)               {}
func (p *packed) manifest() *archive.Manifest { return p.man }
func (p *packed) paths() []string             { return p.r.Paths() }
func (p *packed) Close() error                { return p.r.Close() }

// decode follows the columns' dependencies: lengths, then qualities, then sequences, which
// are coded given the qualities of both mates; beside them names, the first mates' first.
func (p *packed) decode(ctx context.Context, i int, want [2]bool) (*batch, error) {
	s := &p.man.Slices[i]
	members := s.Members()
	b := &batch{slice: s}
	outer := ctx
	g, ctx := errgroup.WithContext(ctx)
	for m, mem := range members {
		b.cols[m] = &columns{input: mem.Input, from: s.From, records: s.Records}
		if err := p.pool.do(ctx, func() error { return p.small(s, m, b.cols[m]) }); err != nil {
			return nil, err
		}
	}
	g.Go(func() error {
		return p.pool.do(ctx, func() error { return p.names(s, b, want) })
	})
	g.Go(func() error {
		q, qctx := errgroup.WithContext(ctx) // it ends with Wait
		q.Go(func() error {
			// For all slices, so it must not end with this one.
			return p.shared.pass(qctx, func() error { return p.pool.do(outer, p.decodeShared) })
		})
		for m := range members {
			q.Go(func() error {
				return p.pool.do(qctx, func() error { return p.quals(s, m, b.cols[m]) })
			})
		}
		if err := q.Wait(); err != nil {
			return err
		}
		return p.pool.do(ctx, func() error { return p.seqs(s, b) })
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for m := range members {
		if !want[m] {
			b.cols[m], b.seqs[m] = nil, nil
		}
	}
	return b, nil
}

// read returns a section of member m; failed says what to call an error of its decoder.
func (p *packed) read(s *archive.Slice, m int, sec archive.Section, column string) (data []byte, failed func(error) error, err error) {
	what := column + " of " + whereRecords(p.man, s, m)
	data, err = p.r.Read(sec, nil, what)
	return data, func(err error) error { return p.r.Corrupt(what, err) }, err
}

// small decodes lengths and layout.
func (p *packed) small(s *archive.Slice, m int, c *columns) error {
	mem := s.Members()[m]
	data, failed, err := p.read(s, m, mem.Lengths, "lengths")
	if err != nil {
		return err
	}
	if c.lengths, c.fixed, err = seqs.DecodeLengths(data, c.records); err != nil {
		return failed(err)
	}
	if got := c.bases(); got != mem.Bases {
		return failed(fmt.Errorf("they sum to %d, the manifest says %d", got, mem.Bases))
	}
	if !keepsOf(p.man.Options, p.man.Inputs[c.input].Kind).layout {
		return nil
	}
	if data, failed, err = p.read(s, m, mem.Layout, "layout"); err != nil {
		return err
	}
	if c.layout, err = decodeLayout(data, c.records); err != nil {
		return failed(err)
	}
	return nil
}

func (p *packed) names(s *archive.Slice, b *batch, want [2]bool) error {
	if p.man.Options.ReadsOnly || p.man.Options.DropNames {
		return nil
	}
	data, failed, err := p.read(s, 0, s.First.Names, "names")
	if err != nil {
		return err
	}
	first, err := decodeNames(data, s.Records, s.First.NamesLen)
	if err != nil {
		return failed(err)
	}
	b.cols[0].names = first
	if s.Mate == nil || !want[1] {
		return nil
	}
	if data, failed, err = p.read(s, 1, s.Mate.Names, "names"); err != nil {
		return err
	}
	if b.cols[1].names, err = decodeMateNames(data, first, s.Records, s.Mate.NamesLen); err != nil {
		return failed(err)
	}
	return nil
}

func (p *packed) quals(s *archive.Slice, m int, c *columns) error {
	if !keepsOf(p.man.Options, p.man.Inputs[c.input].Kind).quals {
		return nil
	}
	data, failed, err := p.read(s, m, s.Members()[m].Quals, "qualities")
	if err != nil {
		return err
	}
	in := quals.Input{Lengths: c.lengths, FixedLen: c.fixed, Records: c.records}
	if c.quals, err = quals.Decode(data, in, nil); err != nil {
		return failed(err)
	}
	if c.quals == nil {
		c.quals = []byte{}
	}
	if got := uint64(len(c.quals)); got != s.Members()[m].Bases {
		return failed(fmt.Errorf("%d of them for %d bases", got, s.Members()[m].Bases))
	}
	return nil
}

func (p *packed) seqs(s *archive.Slice, b *batch) error {
	data, failed, err := p.read(s, 0, s.Seqs, "sequences")
	if err != nil {
		return err
	}
	var mate *seqs.Column
	if s.Mate != nil {
		mate = seqColumn(b.cols[1])
	}
	if b.seqs, err = p.dec.DecodeSlice(data, seqColumn(b.cols[0]), mate); err != nil {
		return failed(err)
	}
	for m, mem := range s.Members() {
		if got := uint64(len(b.seqs[m])); got != mem.Bases {
			return failed(fmt.Errorf("%d bases where the manifest says %d", got, mem.Bases))
		}
	}
	return nil
}

// seqColumn is c as the sequence coder takes it.
func seqColumn(c *columns) *seqs.Column {
	return &seqs.Column{Input: c.input, From: c.from, Perm: c.perm, Records: c.records, Run: c.run, At: c.at,
		Lengths: c.lengths, FixedLen: c.fixed, Exceptions: c.exceptions, Quals: c.quals}
}
