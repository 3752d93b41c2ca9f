package overlap

import (
	"context"
)

// Layout is where the reads of one part stand.
type Layout struct {
	Reads  *Reads
	Packed []byte // the pseudogenome, 2 bits a base as in bins.Block.Packed, with pad
	Len    int    // its length in bases
	pl     *placements
}

// Config tunes Build. Threads is at least 1; Budget bounds the pseudogenome under construction, in
// bases, 0 for no bound; Progress may be nil.
type Config struct {
	Threads  int
	Budget   int
	Progress func(stage string, done, total uint64)
}

// Build lays out the reads. The result depends on the reads and Budget alone, not on Threads.
func Build(ctx context.Context, rd *Reads, c Config) (*Layout, error) {
	tick := func(stage string) func(done, total int) {
		return func(done, total int) {
			if c.Progress != nil {
				c.Progress(stage, uint64(done), uint64(total))
			}
		}
	}
	budget := c.Budget
	if budget == 0 {
		budget = 1 << 32
	}
	contigs := binContigs(rd, c.Threads)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	pg := assemble(contigs, min(budget, 1<<32-1<<20), tick("joining contigs"))
	contigs = nil
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := &Layout{Reads: rd, pl: newPlacements(rd.Count())}
	l.Packed = pack(pg)
	ix := newKmerIndex(l.Packed, len(pg), 24, c.Threads)
	placeAll(rd, l.pl, l.Packed, len(pg), ix, c.Threads, func(p *placer) {
		p.step, p.chain, p.goodEnough = 8, 16, 1
		p.tolerance = func(n int) int { return n / 6 }
	}, tick("placing reads"))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if vote(rd, l.pl, pg, l.Packed) > 0 {
		l.Packed = pack(pg)
	}
	ix = nil
	ix = newKmerIndex(l.Packed, len(pg), 13, c.Threads)
	placeAll(rd, l.pl, l.Packed, len(pg), ix, c.Threads, func(p *placer) {
		p.step, p.chain, p.goodEnough = 3, 64, 2
		p.tolerance = func(n int) int { return n / 5 }
	}, tick("placing the rest"))
	pg = compact(rd, l.pl, pg)
	l.Packed, l.Len = pack(pg), len(pg)
	return l, ctx.Err()
}

// Place returns the position of a record on the pseudogenome (Unplaced if it has none)
// and whether the read, as it was input, is the reverse complement of what stands there.
func (l *Layout) Place(record uint32) (pos uint32, reversed bool) {
	return l.pl.pos[record], l.pl.reversed(record)
}

// Base returns base pos of the pseudogenome.
func (l *Layout) Base(pos int) byte { return base(l.Packed, pos) }

// ReadLen returns the length in bases of a record's read.
func (l *Layout) ReadLen(record uint32) int { return l.Reads.len(int(l.Reads.index[record])) }

// Bases appends the bases (0..3, one a byte, input orientation) of a record's read to dst.
// At bytes other than A, C, G, T the value means nothing.
func (l *Layout) Bases(dst []byte, record uint32) []byte {
	i := int(l.Reads.index[record])
	n := l.Reads.len(i)
	at := len(dst)
	dst = unpack(dst, l.Reads.bases(i), 0, n)
	if l.Reads.place[i]&1 != 0 {
		s := dst[at:]
		for a, b := 0, len(s)-1; a <= b; a, b = a+1, b-1 {
			s[a], s[b] = 3-s[b], 3-s[a]
		}
	}
	return dst
}

// Stretch appends the n bases of the pseudogenome from pos on, one a byte, to dst.
func (l *Layout) Stretch(dst []byte, pos, n int) []byte { return unpack(dst, l.Packed, pos, n) }
