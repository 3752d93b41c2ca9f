package source

import (
	"context"
	"fmt"
	"orcomgo/compress/twobit"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/seqs"
	"orcomgo/compress/workers"
)

// Packed is the source that decodes .cdna.
type Packed struct {
	Archive *archive.Reader
	Man     *archive.Manifest
	Kept    []columns.Kept // by input
	Pool    workers.Pool
	Threads int
	Shared  *workers.Once // sets dec
	Seqs    *seqs.Decoder
	memory  *workers.Buffers // of sections and sequences in two bits a base

	Leads      map[*archive.Slice]*archive.Slice // of slices of further mates: those of the first mates
	hasFurther map[*archive.Slice]bool           // slices that are one of these
	before     map[*archive.Slice]*archive.Slice // the slice with the records before
	names      sliceNames
	Primers    primers
}

// NewPacked returns the source of r, which keeps little of what it decodes if memory (0: the package's default) is little.
func NewPacked(r *archive.Reader, threads int, memory uint64) *Packed {
	p := &Packed{Archive: r, Man: r.Manifest(), Pool: workers.NewPool(threads), Threads: max(threads, 1), Shared: workers.NewOnce(),
		memory: &workers.Buffers{Keep: 2 * max(threads, 1)}}
	p.names.most = keptNames(memory)
	for i := range p.Man.Inputs {
		p.Kept = append(p.Kept, columns.KeptOf(p.Man.Options, p.Man.Inputs[i].Kind))
	}
	p.Leads, p.hasFurther = make(map[*archive.Slice]*archive.Slice), make(map[*archive.Slice]bool)
	for i, lead := range p.Man.Leads() {
		if lead >= 0 {
			p.Leads[&p.Man.Slices[i]] = &p.Man.Slices[lead]
			p.hasFurther[&p.Man.Slices[lead]] = true
		}
	}
	last := make([]*archive.Slice, len(p.Man.Inputs))
	p.before = make(map[*archive.Slice]*archive.Slice)
	for i := range p.Man.Slices {
		s := &p.Man.Slices[i]
		p.before[s], last[s.First.Input] = last[s.First.Input], s
	}
	return p
}

// decodeShared decodes the shared sections. It takes as long as the qualities of many
// slices do, so slices begin without it.
func (p *Packed) decodeShared() error {
	if p.Seqs != nil {
		return nil // see following and ShareIndex
	}
	shared, c, err := p.readShared()
	if err == nil {
		p.Seqs = seqs.NewDecoder(shared, c)
	}
	return err
}

// readShared reads the shared sections.
func (p *Packed) readShared() (shared [][]byte, c seqs.Config, err error) {
	c = seqs.Config{Threads: p.Threads, Repeats: p.Man.Repeats, OneCoder: p.Man.OneCoder, ReleaseWhile: p.Pool.ReleaseWhile}
	shared = make([][]byte, len(p.Man.Shared))
	for i, s := range p.Man.Shared {
		if shared[i], err = p.Archive.Read(s, nil, SharedName(i)); err != nil {
			return nil, c, err
		}
	}
	return shared, c, nil
}

func SharedName(i int) string { return fmt.Sprintf("shared section %d", i+1) }

func (p *Packed) Manifest() *archive.Manifest { return p.Man }
func (p *Packed) Paths() []string             { return p.Archive.Paths() }
func (p *Packed) Close() error                { return p.Archive.Close() }

// Pass keeps names if some records are asked for: mates, or the same records, may be asked for after them.
func (p *Packed) Pass(list []Demand) Decoder {
	some := len(list) < len(p.Man.Slices)
	for _, d := range list {
		some = some || 0 < d.First && d.First < p.Man.Slices[d.Slice].Records
	}
	p.names.keepText.Store(some)
	return p
}

func (p *Packed) Place() (dir, name string) { return p.Archive.Dir(), p.Archive.Name() }
func (p *Packed) Problems() []error         { return p.Archive.Problems() }

// decoding is the decoding of one column of a slice: of a member, or of what members share.
type decoding struct {
	decoder
	Id    archive.Column
	M     int
	after []*decoding   // what it needs
	done  chan struct{} // closed when err is set for good
	err   error
}

// Decodings lists what must be decoded for what is wanted of a slice, by column.
func (p *Packed) Decodings(s *archive.Slice, d Demand) []*decoding {
	var all [archive.Columns][2]*decoding
	members := s.Members()
	var add func(id archive.Column, m int) *decoding
	add = func(id archive.Column, m int) *decoding {
		if columns.Shared(id) {
			m = 0
		}
		if !p.Kept[members[m].Input][id] {
			return nil
		}
		if known := all[id][m]; known != nil {
			return known
		}
		n := &decoding{decoder: decoders[id], Id: id, M: m, done: make(chan struct{})}
		all[id][m] = n
		need := func(id archive.Column, m int) {
			if other := add(id, m); other != nil {
				n.after = append(n.after, other)
			}
		}
		others := n.decoder.needs
		if n.needsByBases != nil && p.Man.Inputs[members[m].Input].QualsByBases {
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
					if of.id != archive.Quals || d.Want[m] {
						need(of.id, m)
					}
				}
			}
		}
		return n
	}
	for m, mem := range members {
		if !d.Want[m] {
			continue
		}
		wanted := d.ColumnsOf(p.Kept[mem.Input])
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

// Decode decodes columns side by side, each as soon as those that it needs are there. A
// damaged column takes with it the members that depend on it, and no other.
func (p *Packed) Decode(ctx context.Context, wanted Demand) (*Decoded, error) {
	s := &p.Man.Slices[wanted.Slice]
	pool := p.Pool.InTurn(wanted.Turn)
	b := &Decoded{Slice: s}
	list := p.Decodings(s, wanted)
	first := s.Records
	if 0 < wanted.First && wanted.First < s.Records && !p.needsAll(s, wanted) {
		first = wanted.First
	}
	for m, mem := range s.Members() {
		b.Cols[m] = &columns.Columns{Input: mem.Input, From: s.From, Records: s.Records, First: first,
			ByBases: p.Man.Inputs[mem.Input].QualsByBases, AsText: wanted.AsText, Skip: !wanted.Want[m], Coded: wanted.Coded}
	}
	for m, mem := range s.Members() {
		if in := &p.Man.Inputs[mem.Input]; !in.TwoBit && record.RenderingOf(p.Man.Options, in.Kind) == record.AsLines {
			b.Cols[m].Lines = wanted.Lines
		}
		// Qualities by bases need all letters, and so does the checksum of all records.
		if first < s.Records && !p.Man.Inputs[mem.Input].QualsByBases {
			b.Cols[m].Spans = wanted.Spans
		}
	}
	if wanted.Layouts {
		for m := range s.Members() {
			b.Cols[m].Layout = &seqs.Layout{WithoutPlaced: wanted.WithoutPlaced, WithoutLiterals: wanted.WithoutLiterals}
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
	for m := range b.Cols {
		for _, d := range list {
			if wanted.Want[m] && b.Err[m] == nil && (d.M == m || columns.Shared(d.Id)) {
				b.Err[m] = d.err
			}
		}
		if !wanted.Want[m] || b.Err[m] != nil {
			b.Cols[m] = nil
		} else if b.Cols[m] != nil {
			b.Cols[m].Cut()
		}
	}
	if wanted.Want[0] && wanted.Want[1] {
		return b, p.decodeAlone(ctx, wanted, b)
	}
	return b, nil
}

// decodeAlone decodes the members of b that failed once more, each without the other, whose damage may be all that failed.
func (p *Packed) decodeAlone(ctx context.Context, wanted Demand, b *Decoded) error {
	for m, err := range b.Err {
		if err == nil {
			continue
		}
		wanted.Want = [2]bool{m == 0, m == 1}
		one, err := p.Decode(ctx, wanted)
		if err != nil {
			return err
		}
		b.Cols[m], b.Err[m] = one.Cols[m], one.Err[m]
	}
	return nil
}

// needsAll reports whether the first records of a slice can't be decoded alone.
func (p *Packed) needsAll(s *archive.Slice, d Demand) bool {
	in := &p.Man.Inputs[s.First.Input]
	switch {
	case in.QualsByBases:
		return true
	case !d.ColumnsOf(p.Kept[s.First.Input])[archive.Seqs] || in.TwoBit:
		return false
	}
	data, err := p.Archive.Read(s.Seqs, nil, "")
	return err == nil && seqs.NeedsAll(data) // else decodeColumn says why it can't be read
}

// decodeColumn sets d's column in b, or d.err; what it returns is the error of ctx.
func (p *Packed) decodeColumn(ctx context.Context, pool workers.Pool, b *Decoded, d *decoding) error {
	if d.prepare != nil && !p.Man.Inputs[b.Slice.First.Input].TwoBit {
		d.err = d.prepare(ctx, p)
	}
	for _, n := range d.after {
		if err := workers.Wait(ctx, n.done); err != nil {
			return err
		}
		if d.err == nil {
			d.err = n.err
		}
	}
	if ctx.Err() != nil || d.err != nil {
		return ctx.Err()
	}
	return pool.Do(ctx, func() error {
		what := d.Id.String() + " of " + WhereRecords(p.Man, b.Slice, d.M)
		section := *b.Slice.Section(d.Id, d.M)
		var memory []byte
		if d.Id == archive.Seqs && p.Man.Inputs[b.Slice.First.Input].TwoBit {
			memory = p.memory.Get(int(section.Len))
			defer func() { p.memory.Put(memory) }()
		}
		data, err := p.Archive.Read(section, memory, what)
		if err == nil {
			if err = d.decode(p, b, d.M, data); err != nil {
				err = p.corrupt(what, err)
			}
		}
		d.err = err
		return nil
	})
}

// NeedShared has the shared sections decoded, if that was not done yet.
func (p *Packed) NeedShared(ctx context.Context) error {
	// All passes need it, so the end of one does not keep it from being done.
	return p.Shared.Wait(ctx, func() error { return p.Pool.Do(context.WithoutCancel(ctx), p.decodeShared) })
}

// twoBitSlack is how many bytes more than a quarter of the bases twobit.Decode may take.
const twoBitSlack = 64

// Release returns the memory of sequences in two bits a base, once b has been rendered.
func (p *Packed) Release(b *Decoded) {
	for _, c := range b.Cols {
		if c != nil && c.TwoBit != nil {
			p.memory.Put(c.TwoBit.Memory())
			c.TwoBit = nil
		}
	}
}

// decodeTwoBit, which may use several threads for long sequences, sets the letters of c, or, if only text is wanted, the sequences: the
// batch is to be released then.
func decodeTwoBit(c *columns.Columns, memory *workers.Buffers, threads int, data []byte) error {
	s, err := twobit.Decode(memory.Get(int(c.Bases())/4+twoBitSlack), data, int(c.Bases()))
	if err != nil {
		return err
	}
	if c.Layout != nil {
		*c.Layout = *seqs.UnplacedLayout(c.Records)
	}
	s.Threads = threads
	n := int(c.Lengths.Sum(0, c.First))
	if c.AsText {
		c.TwoBit = s
	} else {
		c.Letters = s.AppendLetters(nil, 0, n)
		memory.Put(s.Memory())
	}
	if c.Coded != nil {
		c.Coded(n)
	}
	return nil
}
