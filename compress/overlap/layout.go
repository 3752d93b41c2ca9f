package overlap

import (
	"context"
	"math"

	"orcomgo/bins"
)

// Pseudogenome is what the reads of an archive were laid out on.
type Pseudogenome struct {
	Packed []byte // 2 bits a base as in bins.Block.Packed, with pad
	Len    int    // its length in bases

	b builder
}

// Layout is where the reads of some sources stand.
type Layout struct {
	*Pseudogenome
	Reads *Reads
	pl    *placements
	first uint32 // record in pl of the first of Reads
}

// Config tunes Build. Threads is at least 1. Memory, if it is not 0, is about how many bytes this may take. With Whole, all reads are in
// memory at once, and Memory counts them and their places; else reads are laid out in shares of their signatures, and Memory
// counts neither the places nor the pseudogenome. Progress may be nil.
type Config struct {
	Threads  int
	Memory   uint64
	Whole    bool
	Progress func(stage string, done, total uint64)
}

// builder makes a pseudogenome and places reads on it.
type builder struct {
	c       Config
	records *records
	shares  []*share
	whole   *Reads // the only share
	work    uint64 // bytes for indexes, votes, contigs of poor reads, and supers
	seq     sequence
	pl      *placements

	looked   int64 // candidates for places that were looked at
	compared int   // places for contigs that were compared
}

// longestSequence leaves room for Unplaced among positions of 32 bits.
const longestSequence = 1<<32 - 1<<20

// maxPieces bounds in how many pieces a pseudogenome is assembled.
const maxPieces = 16

// Build lays out the records of srcs, at most 2^32-2 of them. The result depends on the reads, Memory and Whole alone, not on Threads.
func Build(ctx context.Context, r *bins.Reader, srcs []Source, c Config) (*Pseudogenome, error) {
	p := &Pseudogenome{b: builder{c: c, records: recordsOf(r, srcs)}}
	b := &p.b
	if err := b.plan(ctx); err != nil {
		return nil, err
	}
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	p.Packed, p.Len = b.seq.packed, b.seq.n
	if b.whole != nil {
		b.whole.indexed()
	}
	return p, ctx.Err()
}

// plan loads the reads, or cuts them into shares.
func (b *builder) plan(ctx context.Context) (err error) {
	if !b.c.Whole {
		b.work = b.c.Memory * 3 / 4
		b.shares, err = b.records.shares(b.c.Memory / 4)
		return err
	}
	if b.whole, err = b.records.load(ctx, b.records.all()); err != nil {
		return err
	}
	b.work = math.MaxUint64
	if b.c.Memory > 0 {
		taken := b.whole.bytes() + placedBytes8*uint64(b.whole.Count())/8
		b.work = max(b.c.Memory-min(b.c.Memory, taken), b.c.Memory/8)
	}
	return nil
}

// eachShare calls a function for one share after another, with the number of reads in those before.
type eachShare func(ctx context.Context, f func(rd *Reads, before int) error) error

// each calls f for one share after another, with the number of reads in those before.
func (b *builder) each(ctx context.Context, f func(rd *Reads, before int) error) error {
	if b.whole != nil {
		return f(b.whole, 0)
	}
	before := 0
	for _, sh := range b.shares {
		rd, err := b.records.load(ctx, sh)
		if err != nil {
			return err
		}
		if err := f(rd, before); err != nil {
			return err
		}
		before += rd.Count()
	}
	return nil
}

// one is each for reads that are in memory.
func one(rd *Reads) eachShare {
	return func(_ context.Context, f func(rd *Reads, before int) error) error { return f(rd, 0) }
}

func (b *builder) tick(stage string, done, total int) {
	if b.c.Progress != nil {
		b.c.Progress(stage, uint64(done), uint64(total))
	}
}

// bounds returns those of an assembler that may hold so many bytes.
func (b *builder) bounds(bytes uint64) assemblerBounds {
	room := longestSequence - b.seq.n
	if b.c.Memory == 0 {
		return assemblerBounds{bases: room, begin: math.MaxUint64, grow: math.MaxUint64}
	}
	return boundsFor(bytes, room)
}

func (b *builder) build(ctx context.Context) error {
	for piece := 0; piece < maxPieces; piece++ {
		from := b.seq.n
		refused, err := b.assemble(ctx)
		if err != nil {
			return err
		}
		if b.pl == nil {
			b.pl = newPlacements(b.records.count)
		}
		before := b.unplaced()
		if err := b.place(ctx, b.each, from, exact, better); err != nil {
			return err
		}
		// What is left is hardly worth another piece if it is little, or if this one explained little.
		left := b.unplaced()
		if least := b.records.count / 64; !refused || left <= least || before-left <= least {
			break
		}
	}
	// Reads that stand badly where others that stand badly agree with them: the pseudogenome lacks
	// what they come from, because a join went another way. Their own contigs mend that.
	from := b.seq.n
	if err := b.mend(ctx); err != nil {
		return err
	}
	if b.seq.n > from {
		if err := b.place(ctx, b.each, from, again, poor); err != nil {
			return err
		}
	}
	if err := b.vote(ctx); err != nil {
		return err
	}
	if err := b.placeRest(ctx); err != nil {
		return err
	}
	return b.compact(ctx)
}

func (b *builder) unplaced() int {
	n := 0
	for _, pos := range b.pl.pos {
		if pos == Unplaced {
			n++
		}
	}
	return n
}

// assemble appends a piece to the pseudogenome, made of the reads that stand nowhere on it or badly. It
// reports whether there was too little room.
func (b *builder) assemble(ctx context.Context) (refused bool, err error) {
	var a *assembler
	err = b.each(ctx, func(rd *Reads, before int) error {
		var wanted func(i int) bool
		if b.pl != nil {
			wanted = func(i int) bool {
				rec := rd.record[i]
				return b.pl.pos[rec] == Unplaced || int(b.pl.miss[rec]) > rd.len(i)/16+1
			}
		}
		contigs := binContigs(rd, wanted, b.c.Threads)
		if a == nil {
			bytes := b.work
			if b.whole != nil {
				bytes -= min(contigs.bytes(), bytes/2)
			}
			a = newAssembler(expectedKmers(contigs), b.bounds(bytes))
		}
		a.addAll(contigs, func(done, total int) {
			b.tick("joining contigs", before+int(uint64(rd.Count())*uint64(done)/uint64(total)), b.records.count)
		})
		return ctx.Err()
	})
	if err != nil || a == nil {
		return false, err
	}
	b.compared += a.compared
	a.appendTo(&b.seq, func(reads, _ int) bool { return reads > 1 })
	return a.refused, nil
}

// placing is a way to place reads.
type placing struct {
	stage      string
	k          int    // length of the seeds
	sample     uint64 // see kmerIndex
	step       int    // distance of the seeds looked up
	chain      int    // candidates looked at per seed
	perBase2   int    // candidates looked at per base, on average over placeBatch reads, in halves
	goodEnough int    // mismatches of a place that ends the search
	tolerance  int    // mismatches: the length by this
}

var (
	exact = placing{stage: "placing reads", k: 24, sample: 3, step: 1, chain: 16, perBase2: 4, goodEnough: 1, tolerance: 6}
	again = placing{stage: "placing reads again", k: 24, sample: 3, step: 1, chain: 16, perBase2: 4, goodEnough: 1, tolerance: 6}
	loose = placing{stage: "placing the rest", k: 13, sample: 0, step: 3, chain: 64, perBase2: 2, goodEnough: 2, tolerance: 5}
)

// better tells of reads whose place may be worth another look elsewhere.
func better(b *builder, p *placer, i int) bool {
	return int(b.pl.miss[p.rd.record[i]]) > p.how.goodEnough
}

// never tells of no reads.
func never(*builder, *placer, int) bool { return false }

// place places reads on bases `from` and following of the pseudogenome, as many at a time as can be indexed: those that have no
// place, and those which retry tells of.
func (b *builder) place(ctx context.Context, each eachShare, from int, how placing, retry func(b *builder, p *placer, i int) bool) error {
	window := max(1<<12, int(min(b.work/uint64(indexBytes(how.sample)), longestSequence)))
	for lo := from; lo < b.seq.n; lo += window {
		ix := newKmerIndex(b.seq.packed, lo, min(lo+window+how.k-1, b.seq.n), how.k, how.sample, b.c.Threads)
		err := each(ctx, func(rd *Reads, before int) error {
			b.looked += placeAll(rd, b.pl, &b.seq, ix, b.c.Threads, how, func(p *placer, i int) bool { return retry(b, p, i) },
				func(done int) { b.tick(how.stage, before+done, b.records.count) })
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// placeRest places the reads that have no place yet, with more mismatches. They are gathered from all
// shares first, since indexes take long to make.
func (b *builder) placeRest(ctx context.Context) error {
	if b.whole != nil {
		return b.place(ctx, b.each, 0, loose, never)
	}
	rest := b.records.selection()
	flush := func() error {
		err := b.place(ctx, one(rest.finish()), 0, loose, better)
		rest = b.records.selection()
		return err
	}
	err := b.each(ctx, func(rd *Reads, _ int) error {
		for i, rec := range rd.record {
			if b.pl.pos[rec] == Unplaced && rd.len(i) >= loose.k && rd.len(i) <= maxOverlapped {
				rest.take(rd, i)
			}
			if rest.bytes() > b.work/4 {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// Layout loads the records of srcs, or only some of them if only is not nil. The first of them is record first of those that were
// laid out; reads that come after the last of these are placed now.
func (p *Pseudogenome) Layout(ctx context.Context, srcs []Source, first uint64, only *Subset) (l *Layout, err error) {
	l = &Layout{Pseudogenome: p, Reads: p.b.whole, pl: p.b.pl, first: uint32(first)}
	if l.Reads != nil {
		return l, nil
	}
	rs := recordsOf(p.b.records.bins, srcs)
	if first < uint64(p.b.records.count) {
		l.Reads, err = rs.byRecord(ctx, only)
		return l, err
	}
	if l.Reads, err = rs.load(ctx, rs.all()); err != nil {
		return nil, err
	}
	b := builder{c: p.b.c, records: rs, whole: l.Reads, work: p.b.work, seq: p.b.seq, pl: newPlacements(rs.count)}
	l.pl, l.first = b.pl, 0
	if err := b.place(ctx, b.each, 0, exact, better); err != nil {
		return nil, err
	}
	l.Reads.indexed()
	return l, b.placeRest(ctx)
}

// Place returns where a record stands; see Layout.Place.
func (p *Pseudogenome) Place(record uint32) (pos uint32, reversed bool) {
	return p.b.pl.pos[record], p.b.pl.reversed(record)
}

// Place returns the position of a record on the pseudogenome (Unplaced if it has none)
// and whether the read, as it was input, is the reverse complement of what stands there.
func (l *Layout) Place(record uint32) (pos uint32, reversed bool) {
	return l.pl.pos[l.first+record], l.pl.reversed(l.first + record)
}

// Bases appends the bases (0..3, one a byte, input orientation) of a record's read to dst.
// At bytes other than A, C, G, T the value means nothing.
func (l *Layout) Bases(dst []byte, record uint32) []byte {
	i := l.Reads.at(record)
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
func (p *Pseudogenome) Stretch(dst []byte, pos, n int) []byte { return unpack(dst, p.Packed, pos, n) }

// poorly reports whether a read of n bases with so many mismatches is worth a second look.
func poorly(n, miss int) bool { return miss > 2 && miss > n/50 }

// isPoor reports whether read i stands poorly and can take part in contigs.
func (b *builder) isPoor(rd *Reads, i int) bool {
	rec, n := rd.record[i], rd.len(i)
	if b.pl.pos[rec] == Unplaced || n > maxOverlapped || !poorly(n, int(b.pl.miss[rec])) {
		return false
	}
	a, z := rd.clean(i)
	return z-a >= seedLen
}

// poor is isPoor for place.
func poor(b *builder, p *placer, i int) bool { return b.isPoor(p.rd, i) }

// mend assembles the reads that stand poorly, those of most mismatches if they do not all fit, and appends
// the contigs that cost less than the mismatches they save to the pseudogenome.
func (b *builder) mend(ctx context.Context) error {
	least := b.leastMismatches(b.work / 4)
	var poor contigs
	err := b.each(ctx, func(rd *Reads, _ int) error {
		for i, rec := range rd.record {
			if miss := int(b.pl.miss[rec]); miss >= least && b.isPoor(rd, i) {
				// Mismatches stand in for reads: what a contig would save.
				a, z := rd.clean(i)
				poor.several = append(poor.several, contig{seq: unpack(nil, rd.bases(i), a, z-a), reads: uint32(miss), order: rec})
			}
		}
		return nil
	})
	if err != nil || poor.count() == 0 {
		return err
	}
	const mismatchCost, baseCost = 7, 2 // bits
	a := newAssembler(expectedKmers(&poor), b.bounds(b.work/2))
	a.addAll(&poor, func(int, int) {})
	a.appendTo(&b.seq, func(saved, length int) bool { return saved*mismatchCost > length*baseCost })
	return nil
}

// leastMismatches returns how many mismatches a read must have so that all such reads take at most so many bytes as contigs.
func (b *builder) leastMismatches(bytes uint64) int {
	const perContig = 64
	var reads [256]uint64
	for rec, pos := range b.pl.pos {
		if pos != Unplaced {
			reads[b.pl.miss[rec]]++
		}
	}
	perRead := perContig + b.records.meanLength()
	least := len(reads)
	for sum := uint64(0); least > 0; least-- {
		if sum += reads[least-1] * perRead; sum > bytes {
			break
		}
	}
	return least
}
