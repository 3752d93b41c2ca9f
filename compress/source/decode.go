package source

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/seqs"
	"orcomgo/compress/workers"
)

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
		if columns.ByBases(&p.Man.Inputs[members[m].Input], id) {
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
		wanted := p.Kept[mem.Input].Wanted(d.Columns)
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
	b := &Decoded{Slice: s, memory: p.memory, known: wanted.Known}
	if s.Halves() {
		wanted = wanted.ofHalves()
	}
	list := p.Decodings(s, wanted)
	records := s.MemberRecords()
	first := records
	if 0 < wanted.First && wanted.First < records && !p.needsAll(s, wanted) {
		first = wanted.First
	}
	work, _ := columns.WorkOf(p.Man, s)
	for m, mem := range s.Members() {
		b.Cols[m] = &columns.Columns{Input: mem.Input, From: s.From, Records: records, First: first,
			ByBases: p.Man.Inputs[mem.Input].QualsByBases, AsText: wanted.AsText, Skip: !wanted.Want[m], Coded: wanted.Coded,
			Work: work[m]}
	}
	for m, mem := range s.Members() {
		if s.Halves() {
			b.Cols[m].Half = m + 1
		}
		if in := &p.Man.Inputs[mem.Input]; !in.TwoBit && record.RenderingOf(p.Man.Options, in.Kind) == record.AsLines {
			b.Cols[m].Lines = wanted.Lines
		}
		// Qualities by bases need all letters, and so does the checksum of all records.
		if first < records && !p.Man.Inputs[mem.Input].QualsByBases {
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
	if s.Halves() {
		b.joinHalves()
	}
	return b, nil
}

// ofHalves returns what is to be decoded of both mates of an interleaved input for a demand of its records.
func (d Demand) ofHalves() Demand {
	d.Want[1], d.First, d.Lines, d.Spans = d.Want[0], (d.First+1)/2, nil, slices.Clone(d.Spans)
	for i, s := range d.Spans {
		d.Spans[i] = columns.Span{Lo: s.Lo / 2, Hi: (s.Hi + 1) / 2}
	}
	return d
}

// joinHalves makes one member of both mates of an interleaved input.
func (b *Decoded) joinHalves() {
	switch {
	case b.Cols[0] != nil && b.Cols[1] != nil:
		b.Cols[0] = columns.FromHalves(b.Cols)
	case b.Err[0] == nil:
		b.Cols[0], b.Err[0] = nil, b.Err[1]
	}
	b.Cols[1], b.Err[1] = nil, nil
}

// needsAll reports whether the first records of a slice can't be decoded alone.
func (p *Packed) needsAll(s *archive.Slice, d Demand) bool {
	in, wanted := &p.Man.Inputs[s.First.Input], p.Kept[s.First.Input].Wanted(d.Columns)
	switch {
	case in.QualsByBases, wanted[archive.Forms] && columns.ByBases(in, archive.Forms):
		return true
	case !wanted[archive.Seqs] || in.TwoBit:
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
		if n.err == nil {
			continue
		}
		if d.Id == archive.Seqs && n.Id == archive.Quals && b.skipOther(n.M) {
			continue
		}
		if d.err == nil {
			d.err = n.err
		}
	}
	if ctx.Err() != nil || d.err != nil {
		return ctx.Err()
	}
	if (d.Id == archive.Quals || d.Id == archive.Lengths) && p.Device != nil {
		// The device gets many columns at once before others take their turns, and they need lengths.
		pool = pool.InTurn(0)
	}
	return pool.Do(ctx, func() error {
		what := columnOf(p.Man, d.Id, b.Slice, d.M)
		section := *b.Slice.Section(d.Id, d.M)
		var memory func(n int) []byte
		if d.Id == archive.Quals || d.Id == archive.Seqs && p.Man.Inputs[b.Slice.First.Input].TwoBit {
			var used []byte
			memory = func(n int) []byte {
				used = p.memory.Get(n)
				return used
			}
			defer func() { p.memory.Put(used) }()
		}
		data, err := p.Archive.Read(section, memory, what)
		if err == nil {
			if err = d.decode(p, b, d.M, data); err != nil {
				err = corrupt(p.Archive, what, err)
			}
		}
		d.err = err
		if d.Id == archive.Quals && p.quals.Add(-1) == 0 {
			go p.Device.Close()
		}
		return nil
	})
}

// skipOther leaves out the sequences of a member whose qualities are damaged, if there is another member whose sequences are decoded.
func (b *Decoded) skipOther(m int) bool {
	b.Cols[m].Skip = true
	return len(b.Slice.Members()) > 1 && !b.Cols[1-m].Skip
}
