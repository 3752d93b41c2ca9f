package compress

import (
	"context"
	"fmt"
	"sync"

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

func (p *packed) place() (dir, name string) { return p.r.Dir(), p.r.Name() }
func (p *packed) problems() []error         { return p.r.Problems() }

// failures collects why columns of a slice could not be decoded. Of several reasons for a
// member that of the first column is reported, whichever was found first.
type failures struct {
	mu    sync.Mutex
	err   [2]error
	order [2]int
	lost  bool // a column failed without which sequences can't be decoded
}

// The columns in the order in which their errors are reported.
const (
	lengthsFailed = iota
	formsFailed
	namesFailed
	qualsFailed
	sharedFailed
	seqsFailed
)

// fail notes that members can't be restored because of err in a column.
func (f *failures) fail(column int, err error, members ...int) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = f.lost || column == lengthsFailed || column == qualsFailed || column == sharedFailed
	for _, m := range members {
		if f.err[m] == nil || column < f.order[m] {
			f.err[m], f.order[m] = err, column
		}
	}
}

// seqsLost reports whether a column failed without which sequences can't be decoded.
func (f *failures) seqsLost() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

// decode follows the columns' dependencies: lengths, then qualities, then sequences, which
// are coded given the qualities of both mates; beside them names, the first mates' first. A
// damaged column takes with it the members that depend on it, and no other.
func (p *packed) decode(ctx context.Context, i int, want [2]bool) (*batch, error) {
	s := &p.man.Slices[i]
	members := s.Members()
	both := []int{0, 1}[:len(members)]
	b := &batch{slice: s}
	var failed failures
	for m, mem := range members {
		b.cols[m] = &columns{input: mem.Input, from: s.From, records: s.Records}
		if err := p.pool.do(ctx, func() error {
			failed.fail(lengthsFailed, p.lengths(s, m, b.cols[m]), both...)
			failed.fail(formsFailed, p.forms(s, m, b.cols[m]), m)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	if failed.seqsLost() {
		return p.end(b, &failed, want), nil
	}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return p.pool.do(gctx, func() error { p.names(s, b, want, &failed); return nil })
	})
	g.Go(func() error {
		q, qctx := errgroup.WithContext(gctx) // it ends with Wait
		q.Go(func() error {
			// For all slices, so it must not end with this one.
			err := p.shared.pass(qctx, func() error { return p.pool.do(ctx, p.decodeShared) })
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed.fail(sharedFailed, err, both...)
			return nil
		})
		for m := range members {
			q.Go(func() error {
				return p.pool.do(qctx, func() error {
					failed.fail(qualsFailed, p.quals(s, m, b.cols[m]), both...)
					return nil
				})
			})
		}
		if err := q.Wait(); err != nil {
			return err
		}
		return p.pool.do(gctx, func() error {
			if !failed.seqsLost() {
				failed.fail(seqsFailed, p.seqs(s, b), both...)
			}
			return nil
		})
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return p.end(b, &failed, want), nil
}

// end leaves in b what is wanted and not damaged.
func (p *packed) end(b *batch, failed *failures, want [2]bool) *batch {
	for m := range b.cols {
		if want[m] {
			b.err[m] = failed.err[m]
		}
		if !want[m] || b.err[m] != nil {
			b.cols[m], b.seqs[m] = nil, nil
		}
	}
	return b
}

// read returns a section of member m; failed says what to call an error of its decoder.
func (p *packed) read(s *archive.Slice, m int, sec archive.Section, column string) (data []byte, failed func(error) error, err error) {
	what := column + " of " + whereRecords(p.man, s, m)
	data, err = p.r.Read(sec, nil, what)
	return data, func(err error) error { return p.r.Corrupt(what, err) }, err
}

func (p *packed) lengths(s *archive.Slice, m int, c *columns) error {
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
	return nil
}

func (p *packed) forms(s *archive.Slice, m int, c *columns) error {
	if !keepsOf(p.man.Options, p.man.Inputs[c.input].Kind).forms {
		return nil
	}
	data, failed, err := p.read(s, m, s.Members()[m].Forms, "forms")
	if err != nil {
		return err
	}
	if c.forms, err = decodeForms(data, c.records); err != nil {
		return failed(err)
	}
	return nil
}

// names decodes the names of the members: second mates' need first mates'.
func (p *packed) names(s *archive.Slice, b *batch, want [2]bool, f *failures) {
	if p.man.Options.ReadsOnly || p.man.Options.DropNames {
		return
	}
	decode := func(m int, d func(data []byte) ([]byte, error)) error {
		data, failed, err := p.read(s, m, s.Members()[m].Names, "names")
		if err != nil {
			return err
		}
		if b.cols[m].names, err = d(data); err != nil {
			return failed(err)
		}
		return nil
	}
	err := decode(0, func(data []byte) ([]byte, error) { return decodeNames(data, s.Records, s.First.NamesLen) })
	f.fail(namesFailed, err, []int{0, 1}[:len(s.Members())]...)
	if err != nil || s.Mate == nil || !want[1] {
		return
	}
	err = decode(1, func(data []byte) ([]byte, error) {
		return decodeMateNames(data, b.cols[0].names, s.Records, s.Mate.NamesLen)
	})
	f.fail(namesFailed, err, 1)
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
