package seqs

import (
	"context"
	"slices"

	"orcomgo/bases"
	"orcomgo/compress/basemodel"
	"orcomgo/compress/edits"
	"orcomgo/compress/longreads"
	"orcomgo/compress/overlap"
	"orcomgo/internal/tasks"
)

// minLongBases is the least number of bases of a read that may be aligned in pieces.
const minLongBases = 701

// shareLong finds what long reads share and appends it to the pseudogenome.
func (e *Encoder) shareLong(ctx context.Context) error {
	if found, err := e.genome.HasLong(ctx, minLongBases); err != nil || !found {
		return err
	}
	each := func(f func(batch []longreads.Read) error) error {
		return e.genome.EachLong(ctx, minLongBases, f)
	}
	total := uint64(0)
	for i := range e.bins.Meta().Blocks {
		total += e.bins.Meta().Blocks[i].Bases
	}
	shared, err := longreads.Build(ctx, each, longreads.Config{
		Threads: e.cfg.Threads, Memory: e.longMemory(), MaxBases: basemodel.MaxBases - 1<<20 - e.genome.Len,
		Progress: func(stage string, done uint64) {
			if e.cfg.Progress != nil {
				e.cfg.Progress(stage, min(done, total), total)
			}
		},
	})
	if err != nil || shared.Len() == 0 {
		return err
	}
	e.shared, e.sharedFrom = shared, uint64(e.genome.Len)
	e.genome.Append(shared.Bases(), shared.Len())
	e.repeats = newRepeatCoder(e.genome, shared, e.cfg.Threads)
	return nil
}

// longMemory returns how much memory finding what long reads share may take; 0 for no bound.
func (e *Encoder) longMemory() uint64 {
	switch {
	case e.cfg.Memory == 0:
		return 0
	case e.overlap.Whole:
		bases := uint64(0)
		for i := range e.bins.Meta().Blocks {
			bases += e.bins.Meta().Blocks[i].Bases
		}
		return max(e.overlap.Memory-min(e.overlap.Memory, bases/4), e.cfg.Memory/8)
	}
	return e.overlap.Memory / 2 // a quarter is for a share of the reads
}

// Repeats reports whether there is a section of repeats, the second one of Shared. It must be called after the last EncodeSlice.
func (e *Encoder) Repeats() bool { return e.repeats != nil }

// eachLong calls f with the reads of column k that may be aligned in pieces, and their qualities (nil if there are none).
func (r *columnReads) eachLong(k int, f func(i int, quals []byte) error) error {
	col, at := r.cols[k], 0
	for i := range col.Records {
		var q []byte
		if col.Quals != nil {
			n := col.Lengths.Of(i)
			q = col.Quals[at : at+n]
			at += n
		}
		if r.inPieces(k, i) {
			if err := f(i, q); err != nil {
				return err
			}
		}
	}
	return nil
}

// editOptions returns the options of the pieces of column k.
func (s *slice) editOptions(r *columnReads, k int) edits.Options {
	o := edits.Options{Bases: s.limit, Source: s.codes, Qualities: r.cols[k].Quals != nil}
	if l := r.cols[0].Layout; l != nil {
		o.Decoded = func(from, to uint64) { l.Pieces = append(l.Pieces, Stretch{from, to}) }
	}
	return o
}

// codes appends n bases of the pseudogenome from base pos on, one a byte (0 to 3).
func (s *slice) codes(dst []byte, pos, n int) []byte {
	packed, from := s.genome(pos, n)
	return bases.Unpack(dst, packed, from, n)
}

// encodePieces returns the stream of the pieces of the long reads of column k, by read.
func (s *slice) encodePieces(r *columnReads, k int, pieces [][]edits.Piece) []byte {
	e := edits.NewEncoder(s.editOptions(r, k))
	// There is no error: f returns none.
	r.eachLong(k, func(i int, quals []byte) error {
		n, at := uint32(r.cols[k].Lengths.Of(i)), uint32(0)
		e.Add(n, pieces[i], quals)
		spans := []edits.Span{}
		for _, p := range pieces[i] {
			if p.Start > at {
				spans = append(spans, edits.Span{Start: at, End: p.Start})
			}
			at = p.End
		}
		if at < n {
			spans = append(spans, edits.Span{Start: at, End: n})
		}
		r.spans[k][i] = spans
		return nil
	})
	return e.Finish()
}

// decodePieces decodes the letters of the pieces of column k to where text says that a read's are. wait waits for the first n bases
// of the pseudogenome.
func (s *slice) decodePieces(section []byte, r *columnReads, k int, text func(k, i int) []byte, wait func(n int) error) error {
	bases := uint64(0)
	r.eachLong(k, func(i int, _ []byte) error {
		bases += uint64(r.cols[k].Lengths.Of(i))
		return nil
	})
	o := s.editOptions(r, k)
	var undecoded error
	decoded := 0
	o.Source = func(dst []byte, pos, n int) []byte {
		if undecoded == nil && pos+n > decoded {
			decoded = pos + n
			s.releaseWhile(func() { undecoded = wait(decoded) })
		}
		if undecoded != nil {
			return append(dst, make([]byte, n)...)
		}
		return s.codes(dst, pos, n)
	}
	d, err := edits.NewDecoder(section, o, bases)
	if err != nil {
		return corrupt(err)
	}
	err = r.eachLong(k, func(i int, quals []byte) error {
		b := text(k, i)
		spans, err := d.Next(b, quals)
		if err != nil {
			return err
		}
		r.spans[k][i] = append([]edits.Span{}, spans...)
		r.coded(len(b))
		at := 0
		for _, v := range spans {
			toLetters(b[at:v.Start])
			at = int(v.End)
		}
		toLetters(b[at:])
		return nil
	})
	if undecoded != nil {
		return undecoded
	}
	if err == nil {
		err = d.Finish()
	}
	return corrupt(err)
}

// pieceAligner aligns the long reads of slices.
type pieceAligner struct {
	shared  *longreads.Sequence
	first   uint64 // base of the pseudogenome with which the shared sequence begins
	layout  *overlap.Layout
	threads int
}

// align returns the pieces of long reads, by column and read.
func (a *pieceAligner) align(records [][]uint32, r *columnReads) [][][]edits.Piece {
	type read struct {
		k, i int
		skip []bool
	}
	var reads []read
	all := make([][][]edits.Piece, len(r.cols))
	for k, col := range r.cols {
		o := nonACGTOf(r.exceptions[k])
		all[k] = make([][]edits.Piece, col.Records)
		for i := range col.Records {
			if r.inPieces(k, i) {
				reads = append(reads, read{k, i, slices.Clone(o.of(i, col.Lengths.Of(i)))})
			}
		}
	}
	const each = 16
	tasks.EachWorker((len(reads)+each-1)/each, a.threads, func(int) func(int) {
		x, o := longreads.NewAligner(a.shared), a.layout.Oriented()
		return func(c int) {
			for _, t := range reads[c*each : min((c+1)*each, len(reads))] {
				o.Load(records[t.k][t.i:t.i+1], []bool{false})
				pieces := x.Align(bases.WordsOf(o.Read(0)), r.cols[t.k].Lengths.Of(t.i))
				for j := range pieces {
					pieces[j].Place += a.first
					if t.skip != nil {
						dropUnseen(&pieces[j], t.skip)
					}
				}
				all[t.k][t.i] = pieces
				r.coded(r.cols[t.k].Lengths.Of(t.i))
			}
		}
	})
	return all
}

// dropUnseen removes the substitutions of bases whose letter is given by an exception.
func dropUnseen(p *edits.Piece, skip []bool) {
	at, place := int(p.Start), 0 // in the read and in the stretch
	kept := p.Edits[:0]
	for _, e := range p.Edits {
		at += int(e.At) - place
		place = int(e.At)
		if e.Kind != edits.Substitution || !skip[at] {
			kept = append(kept, e)
		}
		if e.Kind != edits.Deletion {
			at++
		}
		if e.Kind != edits.Insertion {
			place++
		}
	}
	p.Edits = kept
}
