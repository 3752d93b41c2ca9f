package compress

import (
	"context"
	"fmt"
	"orcomgo/compress/twobit"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins/record"
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
	memory  *buffers // of sections and sequences in two bits a base

	leads      map[*archive.Slice]*archive.Slice // of slices of further mates: those of the first mates
	hasFurther map[*archive.Slice]bool           // slices that are one of these
	before     map[*archive.Slice]*archive.Slice // the slice with the records before
	names      sliceNames
	primers    primers
}

// newPacked returns the source of r, which keeps little of what it decodes if memory (0: the package's default) is little.
func newPacked(r *archive.Reader, threads int, memory uint64) *packed {
	p := &packed{r: r, man: r.Manifest(), pool: newWorkers(threads), threads: max(threads, 1), shared: newOnceWork(),
		memory: &buffers{keep: 2 * max(threads, 1)}}
	p.names.most = keptNames(memory)
	for i := range p.man.Inputs {
		p.keeps = append(p.keeps, keepsOf(p.man.Options, p.man.Inputs[i].Kind))
	}
	p.leads, p.hasFurther = make(map[*archive.Slice]*archive.Slice), make(map[*archive.Slice]bool)
	for i, lead := range p.man.Leads() {
		if lead >= 0 {
			p.leads[&p.man.Slices[i]] = &p.man.Slices[lead]
			p.hasFurther[&p.man.Slices[lead]] = true
		}
	}
	last := make([]*archive.Slice, len(p.man.Inputs))
	p.before = make(map[*archive.Slice]*archive.Slice)
	for i := range p.man.Slices {
		s := &p.man.Slices[i]
		p.before[s], last[s.First.Input] = last[s.First.Input], s
	}
	return p
}

// decodeShared decodes the shared sections. It takes as long as the qualities of many
// slices do, so slices begin without it.
func (p *packed) decodeShared() error {
	if p.dec != nil {
		return nil // see following and shareIndex
	}
	shared, c, err := p.readShared()
	if err == nil {
		p.dec = seqs.NewDecoder(shared, c)
	}
	return err
}

// readShared reads the shared sections.
func (p *packed) readShared() (shared [][]byte, c seqs.Config, err error) {
	c = seqs.Config{Threads: p.threads, Repeats: p.man.Repeats, OneCoder: p.man.OneCoder, ReleaseWhile: p.pool.releaseWhile}
	shared = make([][]byte, len(p.man.Shared))
	for i, s := range p.man.Shared {
		if shared[i], err = p.r.Read(s, nil, sharedName(i)); err != nil {
			return nil, c, err
		}
	}
	return shared, c, nil
}

func sharedName(i int) string { return fmt.Sprintf("shared section %d", i+1) }

func (p *packed) manifest() *archive.Manifest { return p.man }
func (p *packed) paths() []string             { return p.r.Paths() }
func (p *packed) Close() error                { return p.r.Close() }

// pass keeps names if some records are asked for: mates, or the same records, may be asked for after them.
func (p *packed) pass(list []demand) sliceDecoder {
	some := len(list) < len(p.man.Slices)
	for _, d := range list {
		some = some || 0 < d.first && d.first < p.man.Slices[d.slice].Records
	}
	p.names.keepText.Store(some)
	return p
}

func (p *packed) place() (dir, name string) { return p.r.Dir(), p.r.Name() }
func (p *packed) problems() []error         { return p.r.Problems() }

// decoding is the decoding of one column of a slice: of a member, or of what members share.
type decoding struct {
	decoder
	id    archive.Column
	m     int
	after []*decoding   // what it needs
	done  chan struct{} // closed when err is set for good
	err   error
}

// decodings lists what must be decoded for what is wanted of a slice, by column.
func (p *packed) decodings(s *archive.Slice, d demand) []*decoding {
	var all [archive.Columns][2]*decoding
	members := s.Members()
	var add func(id archive.Column, m int) *decoding
	add = func(id archive.Column, m int) *decoding {
		if shared(id) {
			m = 0
		}
		if !p.keeps[members[m].Input][id] {
			return nil
		}
		if known := all[id][m]; known != nil {
			return known
		}
		n := &decoding{decoder: decoders[id], id: id, m: m, done: make(chan struct{})}
		all[id][m] = n
		need := func(id archive.Column, m int) {
			if other := add(id, m); other != nil {
				n.after = append(n.after, other)
			}
		}
		others := n.decoder.needs
		if n.needsByBases != nil && p.man.Inputs[members[m].Input].QualsByBases {
			others = n.needsByBases
		}
		for _, of := range others {
			switch {
			case of.of == sameMember:
				need(of.id, m)
			case of.of == firstMember && m > 0:
				need(of.id, 0)
			case of.of == allMembers:
				for m := range members {
					if of.id != archive.Quals || d.want[m] {
						need(of.id, m)
					}
				}
			}
		}
		return n
	}
	for m, mem := range members {
		if !d.want[m] {
			continue
		}
		wanted := d.columnsOf(p.keeps[mem.Input])
		for id := range archive.Columns {
			if wanted[id] {
				add(archive.Column(id), m)
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

// decode decodes columns side by side, each as soon as those that it needs are there. A
// damaged column takes with it the members that depend on it, and no other.
func (p *packed) decode(ctx context.Context, wanted demand) (*batch, error) {
	s := &p.man.Slices[wanted.slice]
	pool := p.pool.inTurn(wanted.turn)
	b := &batch{slice: s}
	list := p.decodings(s, wanted)
	first := s.Records
	if 0 < wanted.first && wanted.first < s.Records && !p.needsAll(s, wanted) {
		first = wanted.first
	}
	for m, mem := range s.Members() {
		b.cols[m] = &columns{input: mem.Input, from: s.From, records: s.Records, first: first,
			byBases: p.man.Inputs[mem.Input].QualsByBases, asText: wanted.asText, skip: !wanted.want[m], coded: wanted.coded}
	}
	for m, mem := range s.Members() {
		if in := &p.man.Inputs[mem.Input]; !in.TwoBit && record.RenderingOf(p.man.Options, in.Kind) == record.AsLines {
			b.cols[m].lines = wanted.lines
		}
		// Qualities by bases need all letters, and so does the checksum of all records.
		if first < s.Records && !p.man.Inputs[mem.Input].QualsByBases {
			b.cols[m].spans = wanted.spans
		}
	}
	if wanted.layouts {
		for m := range s.Members() {
			b.cols[m].layout = &seqs.Layout{WithoutPlaced: wanted.withoutPlaced, WithoutLiterals: wanted.withoutLiterals}
		}
	}
	var g errgroup.Group // only the end of ctx is an error of it, so it needs no context of its own
	for _, d := range list {
		g.Go(func() error {
			defer close(d.done)
			return p.decodeColumn(ctx, pool, b, d)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for m := range b.cols {
		for _, d := range list {
			if wanted.want[m] && b.err[m] == nil && (d.m == m || shared(d.id)) {
				b.err[m] = d.err
			}
		}
		if !wanted.want[m] || b.err[m] != nil {
			b.cols[m] = nil
		} else if b.cols[m] != nil {
			b.cols[m].cut()
		}
	}
	return b, nil
}

// needsAll reports whether the first records of a slice can't be decoded alone.
func (p *packed) needsAll(s *archive.Slice, d demand) bool {
	in := &p.man.Inputs[s.First.Input]
	switch {
	case in.QualsByBases:
		return true
	case !d.columnsOf(p.keeps[s.First.Input])[archive.Seqs] || in.TwoBit:
		return false
	}
	data, err := p.r.Read(s.Seqs, nil, "")
	return err == nil && seqs.NeedsAll(data) // else decodeColumn says why it can't be read
}

// decodeColumn sets d's column in b, or d.err; what it returns is the error of ctx.
func (p *packed) decodeColumn(ctx context.Context, pool workers, b *batch, d *decoding) error {
	if d.prepare != nil && !p.man.Inputs[b.slice.First.Input].TwoBit {
		d.err = d.prepare(ctx, p)
	}
	for _, n := range d.after {
		if err := waitFor(ctx, n.done); err != nil {
			return err
		}
		if d.err == nil {
			d.err = n.err
		}
	}
	if ctx.Err() != nil || d.err != nil {
		return ctx.Err()
	}
	return pool.do(ctx, func() error {
		what := d.id.String() + " of " + whereRecords(p.man, b.slice, d.m)
		section := *b.slice.Section(d.id, d.m)
		var memory []byte
		if d.id == archive.Seqs && p.man.Inputs[b.slice.First.Input].TwoBit {
			memory = p.memory.get(int(section.Len))
			defer func() { p.memory.put(memory) }()
		}
		data, err := p.r.Read(section, memory, what)
		if err == nil {
			if err = d.decode(p, b, d.m, data); err != nil {
				err = p.corrupt(what, err)
			}
		}
		d.err = err
		return nil
	})
}

// needShared has the shared sections decoded, if that was not done yet.
func (p *packed) needShared(ctx context.Context) error {
	// All passes need it, so the end of one does not keep it from being done.
	return p.shared.wait(ctx, func() error { return p.pool.do(context.WithoutCancel(ctx), p.decodeShared) })
}

// twoBitSlack is how many bytes more than a quarter of the bases twobit.Decode may take.
const twoBitSlack = 64

// release returns the memory of sequences in two bits a base, once b has been rendered.
func (p *packed) release(b *batch) {
	for _, c := range b.cols {
		if c != nil && c.twoBit != nil {
			p.memory.put(c.twoBit.Memory())
			c.twoBit = nil
		}
	}
}

// decodeTwoBit, which may use several threads for long sequences, sets the letters of c, or, if only text is wanted, the sequences: the
// batch is to be released then.
func decodeTwoBit(c *columns, memory *buffers, threads int, data []byte) error {
	s, err := twobit.Decode(memory.get(int(c.bases())/4+twoBitSlack), data, int(c.bases()))
	if err != nil {
		return err
	}
	if c.layout != nil {
		*c.layout = *seqs.UnplacedLayout(c.records)
	}
	s.Threads = threads
	n := int(c.lengths.Sum(0, c.first))
	if c.asText {
		c.twoBit = s
	} else {
		c.letters = s.AppendLetters(nil, 0, n)
		memory.put(s.Memory())
	}
	if c.coded != nil {
		c.coded(n)
	}
	return nil
}
