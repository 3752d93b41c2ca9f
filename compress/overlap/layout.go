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
	budget := 1<<32 - 1<<20 // positions have 32 bits
	if c.Budget > 0 {
		budget = min(budget, c.Budget)
	}
	pg := assemble(binContigs(rd, c.Threads), func(reads, _ int) bool { return reads > 1 }, budget, tick("joining contigs"))
	l := &Layout{Reads: rd, pl: newPlacements(rd.Count())}
	// place places the reads that have no place on the pseudogenome from base `from` on.
	place := func(from, k int, sample uint64, stage string, setup func(*placer)) {
		l.Packed = pack(pg)
		ix := newKmerIndex(l.Packed, from, len(pg), k, sample, c.Threads)
		placeAll(rd, l.pl, l.Packed, len(pg), ix, c.Threads, setup, tick(stage))
	}
	exact := func(p *placer) {
		p.step, p.chain, p.goodEnough = 1, 16, 1
		p.tolerance = func(n int) int { return n / 6 }
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	place(0, 24, 3, "placing reads", exact)
	// Reads that stand badly where others that stand badly agree with them: the pseudogenome lacks
	// what they come from, because a join went another way. Their own contigs mend that.
	if more, poor := mend(rd, l.pl, budget-len(pg)); len(more) > 0 && ctx.Err() == nil {
		from := len(pg)
		pg = append(pg, more...)
		l.pl.unplace(poor)
		place(from, 24, 3, "placing reads again", exact)
		l.pl.restore(poor)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	vote(rd, l.pl, pg, l.Packed)
	place(0, 13, 0, "placing the rest", func(p *placer) {
		p.step, p.chain, p.goodEnough = 3, 64, 2
		p.tolerance = func(n int) int { return n / 5 }
	})
	pg = compact(rd, l.pl, pg)
	l.Packed, l.Len = pack(pg), len(pg)
	return l, ctx.Err()
}

// Place returns the position of a record on the pseudogenome (Unplaced if it has none)
// and whether the read, as it was input, is the reverse complement of what stands there.
func (l *Layout) Place(record uint32) (pos uint32, reversed bool) {
	return l.pl.pos[record], l.pl.reversed(record)
}

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

// poorly tells whether a read of n bases with so many mismatches is worth a second look.
func poorly(n, miss int) bool { return miss > 2 && miss > n/50 }

// mend assembles the reads that stand poorly and returns, one base a byte, the contigs that cost less than the
// mismatches they save, and where these reads stand.
func mend(rd *Reads, pl *placements, budget int) (more []byte, poor []placement) {
	var contigs []contig
	for rec, pos := range pl.pos {
		i := int(rd.index[rec])
		n := rd.len(i)
		if pos == Unplaced || n > maxOverlapped || !poorly(n, int(pl.miss[rec])) {
			continue
		}
		if a, z := rd.clean(i); z-a >= seedLen {
			// Mismatches stand in for reads: what a contig would save.
			contigs = append(contigs, contig{seq: unpack(nil, rd.bases(i), a, z-a), reads: int(pl.miss[rec]), order: uint64(rec)})
			poor = append(poor, placement{uint32(rec), pos, pl.reversed(uint32(rec)), pl.miss[rec]})
		}
	}
	const mismatchCost, baseCost = 7, 2 // bits
	return assemble(contigs, func(saved, length int) bool { return saved*mismatchCost > length*baseCost }, budget, func(int, int) {}), poor
}
