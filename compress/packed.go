package compress

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
)

// packed is the source that decodes .cdna.
type packed struct {
	r       *archive.Reader
	man     *archive.Manifest
	keeps   []keeps // by input
	pool    workers
	threads int
	shared  *onceWork // sets dec
	dec     *seqs.Decoder
}

func newPacked(r *archive.Reader, threads int) *packed {
	p := &packed{r: r, man: r.Manifest(), pool: newWorkers(threads), threads: max(threads, 1), shared: newOnceWork()}
	for i := range p.man.Inputs {
		p.keeps = append(p.keeps, keepsOf(p.man.Options, p.man.Inputs[i].Kind))
	}
	return p
}

// decodeShared decodes the shared sections. It takes as long as the qualities of many
// slices do, so slices begin without it.
func (p *packed) decodeShared() error {
	if p.dec != nil {
		return nil // see following
	}
	shared := make([][]byte, len(p.man.Shared))
	for i, s := range p.man.Shared {
		var err error
		if shared[i], err = p.r.Read(s, nil, sharedName(i)); err != nil {
			return err
		}
	}
	p.dec = seqs.NewDecoder(shared, seqs.Config{Threads: p.threads, ReleaseWhile: p.pool.releaseWhile})
	return nil
}

func sharedName(i int) string { return fmt.Sprintf("shared section %d", i+1) }

func (p *packed) prepare([]int)               {}
func (p *packed) manifest() *archive.Manifest { return p.man }
func (p *packed) paths() []string             { return p.r.Paths() }
func (p *packed) Close() error                { return p.r.Close() }

func (p *packed) place() (dir, name string) { return p.r.Dir(), p.r.Name() }
func (p *packed) problems() []error         { return p.r.Problems() }

// decoding is the decoding of one column of a slice: of a member, or of what members share.
type decoding struct {
	*column
	m     int
	needs []*decoding
	done  chan struct{} // closed when err is set for good
	err   error
}

// decodings lists what must be decoded for the columns and members that are wanted, by column. What b has is left out.
func (p *packed) decodings(b *batch, want [2]bool, columns keeps) []*decoding {
	s := b.slice
	var all [archive.Columns][2]*decoding
	members := s.Members()
	var add func(c *column, m int) *decoding
	add = func(c *column, m int) *decoding {
		if c.shared() {
			m = 0
		}
		if !p.keeps[members[m].Input][c.id] || b.has[m][c.id] {
			return nil
		}
		if d := all[c.id][m]; d != nil {
			return d
		}
		d := &decoding{column: c, m: m, done: make(chan struct{})}
		all[c.id][m] = d
		need := func(id archive.Column, m int) {
			if n := add(table[id], m); n != nil {
				d.needs = append(d.needs, n)
			}
		}
		needs := c.needs
		if c.needsByBases != nil && p.man.Inputs[members[m].Input].QualsByBases {
			needs = c.needsByBases
		}
		for _, n := range needs {
			switch {
			case n.of == sameMember:
				need(n.id, m)
			case n.of == firstMember && m > 0:
				need(n.id, 0)
			case n.of == allMembers:
				for m := range members {
					need(n.id, m)
				}
			}
		}
		return d
	}
	for m := range members {
		if want[m] {
			for _, c := range table {
				if columns[c.id] {
					add(c, m)
				}
			}
		}
	}
	var list []*decoding
	for _, of := range all {
		for _, d := range of {
			if d != nil {
				list = append(list, d)
			}
		}
	}
	return list
}

func (p *packed) decode(ctx context.Context, i int, want [2]bool) (*batch, error) {
	b := p.newBatch(i)
	if err := p.decodeInto(ctx, b, want, allColumns()); err != nil {
		return nil, err
	}
	for m := range b.cols {
		if !want[m] || b.err[m] != nil {
			b.cols[m] = nil
		}
	}
	return b, nil
}

// newBatch returns slice i with nothing decoded yet.
func (p *packed) newBatch(i int) *batch {
	s := &p.man.Slices[i]
	b := &batch{slice: s}
	for m, mem := range s.Members() {
		b.cols[m] = &columns{input: mem.Input, from: s.From, records: s.Records, byBases: p.man.Inputs[mem.Input].QualsByBases}
	}
	return b
}

// decodeInto decodes columns of the members that are wanted, and those that these need, side by side, each as soon as those that it needs
// are there. A damaged column takes with it the members that depend on it, and no other.
func (p *packed) decodeInto(ctx context.Context, b *batch, want [2]bool, columns keeps) error {
	list := p.decodings(b, want, columns)
	var g errgroup.Group // only the end of ctx is an error of it, so it needs no context of its own
	for _, d := range list {
		g.Go(func() error {
			defer close(d.done)
			return p.decodeColumn(ctx, b, d)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for m := range b.cols {
		for _, d := range list {
			if d.m != m && !d.shared() {
				continue
			}
			b.has[m][d.id] = true
			if want[m] && b.err[m] == nil {
				b.err[m] = d.err
			}
		}
	}
	return nil
}

// decodeColumn sets d's column in b, or d.err; what it returns is the error of ctx.
func (p *packed) decodeColumn(ctx context.Context, b *batch, d *decoding) error {
	if d.prepare != nil {
		d.err = d.prepare(ctx, p)
	}
	for _, n := range d.needs {
		select {
		case <-n.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if d.err == nil {
			d.err = n.err
		}
	}
	if ctx.Err() != nil || d.err != nil {
		return ctx.Err()
	}
	return p.pool.do(ctx, func() error {
		what := d.id.String() + " of " + whereRecords(p.man, b.slice, d.m)
		data, err := p.r.Read(*b.slice.Section(d.id, d.m), nil, what)
		if err == nil {
			if err = d.column.decode(p, b, d.m, data); err != nil {
				err = p.r.Corrupt(what, err)
			}
		}
		d.err = err
		return nil
	})
}
