package overlap

import (
	"context"
	"math"
	"sync/atomic"
	"unsafe"

	"orcomgo/bases"
	"orcomgo/bins"
	"orcomgo/internal/prefetch"
)

// Pseudogenome is the sequence on which the reads of an archive are placed.
type Pseudogenome struct {
	Packed []byte // 2 bits a base as in bins.Block.Packed, followed by 16 unused bytes
	Len    int    // length in bases

	builder builder
}

// Layout holds reads of some sources and their places on the pseudogenome.
type Layout struct {
	*Pseudogenome
	Reads       *Reads
	placements  *placements // nil if no read has a place
	firstRecord uint32      // number in placements of record 0
}

// Config configures Build.
//
//   - Threads is the number of goroutines, at least 1.
//   - Memory is the memory in bytes that Build uses at most, approximately; 0 for no limit.
//   - Whole keeps all reads in memory; Memory then includes the reads and their places. Without Whole, reads are processed in
//     shares (ranges of signatures), Memory must not be 0, and it includes neither the places nor the pseudogenome.
//   - GPU lets a GPU do what it can, if the program supports one. The result is the same. If there is too little memory on it, or an
//     error, the CPU goes on.
//   - Note, unless it is nil, is called with a line for the user when the GPU can't be used; at most once, from any goroutine.
//   - Progress, unless it is nil, is called with the number of records that the named stage has processed, and their total.
//   - OnDevice, unless it is nil, is called when the GPU begins to do most of the work, so that most threads have little to do from
//     then on; it may be called again.
type Config struct {
	Threads  int
	Memory   uint64
	Whole    bool
	GPU      bool
	Note     func(line string)
	Progress func(stage string, done, total uint64)
	OnDevice func()

	testDevice   func() (device, error) // tests: opens another device
	deviceAlways bool                   // tests: the device does steps however small they are
}

// builder builds a pseudogenome and places reads on it.
type builder struct {
	config     Config
	records    *records
	pairs      []mateRange // of the records
	shares     []*share
	allReads   *Reads // nil if reads are processed in shares
	workBytes  uint64 // memory for indexes, votes, contigs of poorly placed reads, and scaffolds, in bytes
	seq        sequence
	placements *placements // nil before the first round, and if there is no pseudogenome
	voted      bool        // bases were changed by voting, so that the mismatches in placements may differ from the true ones
	poor       Subset      // numbers of the reads that are poorly placed, while they are reassembled
	// changed has the bases of the pseudogenome that reads cover that were placed since bases were voted on, and those they covered before. On
	// others, voting again changes nothing. It is nil if they are not known.
	changed *Subset

	accelerator *accelerator // nil if there is none

	candidatesTried int64 // number of candidate places of reads that the CPU tried
	placesCompared  int   // number of candidate places of contigs that were compared
}

// maxPseudogenome is the maximum length of a pseudogenome in bases. Unplaced and sums of position and read length fit in 32 bits.
const maxPseudogenome = 1<<32 - 1<<20

// maxRounds is the number of rounds in which a pseudogenome is assembled at most.
const maxRounds = 16

// Build lays out the records of srcs, at most 2^32-2 of them. The result depends only on the reads, Memory and Whole, not on
// Threads. Errors are those of reading r, or ctx.Err().
func Build(ctx context.Context, r *bins.Reader, srcs []Source, c Config) (*Pseudogenome, error) {
	p := &Pseudogenome{builder: builder{config: c, records: recordsOf(r, srcs)}}
	b := &p.builder
	b.pairs = b.records.mateRanges(srcs)
	b.records.threads = c.Threads
	if c.Memory > 0 { // the memory of those that load reads is not more than a sixteenth
		b.records.threads = int(max(1, min(uint64(c.Threads), c.Memory/16/loaderBytes)))
	}
	if c.GPU {
		b.accelerator = startAccelerator(c)
		defer func() {
			b.accelerator.close()
			b.accelerator = nil
		}()
	}
	if err := b.plan(ctx); err != nil {
		return nil, err
	}
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	p.Packed, p.Len = b.seq.packed, b.seq.n
	return p, ctx.Err()
}

// plan loads the reads, or divides them into shares.
func (b *builder) plan(ctx context.Context) (err error) {
	if !b.config.Whole {
		b.workBytes = b.config.Memory * 3 / 4
		b.shares, err = b.records.shares(b.config.Memory / 4)
		return err
	}
	if b.allReads, err = b.records.load(ctx, b.records.all(), true); err != nil {
		return err
	}
	b.accelerator.preload(b.allReads)
	b.workBytes = math.MaxUint64
	if b.config.Memory > 0 {
		taken := b.allReads.bytes() + placedEighthBytes*uint64(b.allReads.Count())/8
		b.workBytes = max(b.config.Memory-min(b.config.Memory, taken), b.config.Memory/8)
	}
	return nil
}

// eachShare calls f for one share after another, with the number of reads in the shares before it.
func (b *builder) eachShare(ctx context.Context, f func(rd *Reads, before int) error) error {
	if b.allReads != nil {
		return f(b.allReads, 0)
	}
	before := 0
	for _, sh := range b.shares {
		rd, err := b.records.load(ctx, sh, false)
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

func (b *builder) report(stage string, done, total int) {
	if b.config.Progress != nil {
		b.config.Progress(stage, uint64(done), uint64(total))
	}
}

// limits returns the limits of an assembler that may use so many bytes.
func (b *builder) limits(bytes uint64) assemblerLimits {
	room := maxPseudogenome - b.seq.n
	if b.config.Memory == 0 {
		return assemblerLimits{bases: room, bytes: math.MaxUint64}
	}
	return assemblerLimits{bases: room, bytes: bytes}
}

func (b *builder) build(ctx context.Context) error {
	for round := 0; round < maxRounds; round++ {
		from := b.seq.n
		full, err := b.assemble(ctx)
		if err != nil {
			return err
		}
		if b.seq.n == 0 { // then no read can get a place, now or later, and the places of many short reads would take much memory
			return nil
		}
		if b.placements == nil {
			b.placements = newPlacements(b.records.count, b.config.Threads)
			if b.allReads != nil {
				b.allReads.placesByIndex = !b.accelerator.usable() // a device has them by record
			}
		}
		before := b.countUnplaced()
		if err := b.placeReads(ctx, from, exact, retryMismatched); err != nil {
			return err
		}
		// Another round is not worth its time if few reads are unplaced, or if this round placed few.
		left := b.countUnplaced()
		if threshold := b.records.count / 64; !full || left <= threshold || before-left <= threshold {
			break
		}
	}
	// Poorly placed reads that agree with each other come from sequence that the pseudogenome lacks because of a wrong
	// join. Contigs of these reads add that sequence.
	// Voting first corrects errors of the pseudogenome, which would be mismatches that all reads share.
	if err := b.voteAndSelectPoor(ctx); err != nil {
		return err
	}
	from := b.seq.n
	if err := b.reassemblePoor(ctx); err != nil {
		return err
	}
	if b.seq.n > from {
		again := exact
		again.stage = "placing reads again"
		changed := NewSubset(b.seq.n)
		b.changed = &changed
		if err := b.placeReads(ctx, from, again, retryPoor); err != nil {
			return err
		}
		if b.changed != nil { // else a device has placed the reads
			changed.buildRanks()
		}
		if err := b.vote(ctx); err != nil {
			return err
		}
	}
	b.poor, b.changed = Subset{}, nil
	if err := b.placeRest(ctx); err != nil {
		return err
	}
	b.placements.mismatches = nil
	if rd := b.allReads; rd != nil && rd.placesByIndex {
		rd.placesByIndex = false
		b.placements.toRecords(rd, b.config.Threads)
	}
	return b.orderByMates(ctx, b.pairs)
}

func (b *builder) countUnplaced() int {
	pos := b.placements.pos
	var unplaced atomic.Int64
	inParallel(b.config.Threads, len(pos), 1<<16, func(_, from, to int) {
		n := 0
		for _, p := range pos[from:to] {
			if p == Unplaced {
				n++
			}
		}
		unplaced.Add(int64(n))
	})
	return int(unplaced.Load())
}

// assemble builds contigs from unplaced reads and from reads with many mismatches, joins them, and appends the scaffolds to
// the pseudogenome. full reports whether memory was too small for all contigs of two or more reads.
func (b *builder) assemble(ctx context.Context) (full bool, err error) {
	var a *assembler
	var short tagCounts
	err = b.eachShare(ctx, func(rd *Reads, before int) error {
		var wanted func(i int) bool
		if b.placements == nil {
			short.add(rd, b.records.count)
		} else {
			wanted = func(i int) bool {
				k := rd.number(i)
				return b.placements.pos[k] == Unplaced || int(b.placements.mismatches[k]) > rd.len(i)/16+1
			}
		}
		contigs := binContigs(rd, wanted, bigBinReads, b.config.Threads)
		if a == nil {
			bytes := b.workBytes
			if b.allReads != nil {
				bytes -= min(contigs.bytes(), bytes/2)
			}
			a = newAssembler(b.limits(bytes), int(b.records.meanLength()), b.config.Threads)
			a.device = b.accelerator
		}
		b.report("joining contigs", before/2, b.records.count)
		a.addContigs(contigs)
		return ctx.Err()
	})
	if err != nil || a == nil {
		return false, err
	}
	if b.accelerator != nil && b.config.OnDevice != nil {
		b.config.OnDevice()
	}
	a.appendScaffolds(&b.seq, func(done, total int) {
		b.report("joining contigs", int(uint64(b.records.count)*uint64(total+done)/uint64(2*total)), b.records.count)
	}, func(reads uint64, _ int) bool { return reads > 1 })
	for _, x := range short.tags() {
		b.seq.appendPacked(x.packed(), x.n)
	}
	b.placesCompared += a.compared
	return a.full, nil
}

// retryRule says which reads that have a place are to be placed again.
type retryRule int

const (
	retryNone       retryRule = iota
	retryMismatched           // those with so many mismatches that a better place may exist
	retryPoor                 // those in builder.poor
)

// selects reports whether read k, by Reads.number, that has a place is to be placed again by the mode.
func (r retryRule) selects(b *builder, k uint32, mode placeMode) bool {
	switch r {
	case retryMismatched:
		return int(b.placements.mismatches[k]) > mode.goodMismatches
	case retryPoor:
		return b.poor.Has(k)
	}
	return false
}

// placeReads places reads on the bases of the pseudogenome from `from` on: the reads that have no place, and those that
// retry selects. It indexes as many bases at a time as fit in workBytes.
func (b *builder) placeReads(ctx context.Context, from int, mode placeMode, retry retryRule) error {
	perBase := 25/(mode.sampleMask+1) + 1 // bytes that building an index takes at most
	size := max(1<<12, int(min(b.workBytes/perBase, maxPseudogenome)))
	for lo := from; lo < b.seq.n; lo += size {
		w := newWindow(b, lo, min(lo+size+mode.k-1, b.seq.n), mode, retry)
		err := b.eachShare(ctx, func(rd *Reads, before int) error {
			b.placeAll(rd, w, retry, func(done int) { b.report(mode.stage, before+done, b.records.count) })
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		if a := b.accelerator; a != nil && a.indexed == w {
			a.indexed = nil // its index takes memory
		}
	}
	return nil
}

// Layout loads the records of srcs, or only those in `only` if it is not nil. Their first record is number `first` of the
// records that Build laid out. If first is not less than the number of these, the reads are placed on the pseudogenome now,
// and only is ignored. With Config.Whole all reads are in memory already: srcs and only are ignored. Errors are those of
// reading the bins, or ctx.Err().
func (p *Pseudogenome) Layout(ctx context.Context, srcs []Source, first uint64, only *Subset) (l *Layout, err error) {
	l = &Layout{Pseudogenome: p, Reads: p.builder.allReads, placements: p.builder.placements, firstRecord: uint32(first)}
	if l.Reads != nil {
		return l, nil
	}
	rs := recordsOf(p.builder.records.bins, srcs)
	rs.threads = p.builder.records.threads
	if first < uint64(p.builder.records.count) {
		l.Reads, err = rs.loadByRecord(ctx, only)
		return l, err
	}
	if l.Reads, err = rs.load(ctx, rs.all(), true); err != nil {
		return nil, err
	}
	if p.Len == 0 {
		return l, nil
	}
	b := builder{
		config:     p.builder.config,
		records:    rs,
		allReads:   l.Reads,
		workBytes:  p.builder.workBytes,
		seq:        p.builder.seq,
		placements: newPlacements(rs.count, p.builder.config.Threads),
	}
	l.placements, l.firstRecord = b.placements, 0
	if err := b.placeReads(ctx, 0, exact, retryMismatched); err != nil {
		return nil, err
	}
	return l, b.placeRest(ctx)
}

// placeRest places reads that have no place yet where they have many mismatches.
func (b *builder) placeRest(ctx context.Context) error {
	if err := b.placeReads(ctx, 0, loose, retryNone); err != nil {
		return err
	}
	if mode := short(b.seq.n); mode.k < loose.k && b.records.meanLength() <= mostShort {
		return b.placeReads(ctx, 0, mode, retryNone)
	}
	return nil
}

// Place returns the place of a record of those that Build laid out; see Layout.Place.
func (p *Pseudogenome) Place(record uint32) (pos uint32, reversed bool) {
	return p.builder.placements.of(record)
}

// Place returns the position of a record's read on the pseudogenome, Unplaced if it has none, and whether the read, in input
// orientation, is on the reverse strand. The position is that of the read's leftmost base on the forward strand.
func (l *Layout) Place(record uint32) (pos uint32, reversed bool) {
	return l.placements.of(l.firstRecord + record)
}

// LengthOf returns the length of a record's read.
func (l *Layout) LengthOf(record uint32) int {
	if l.Reads.lengths == nil {
		return int(l.Reads.fixedLength)
	}
	return int(l.Reads.lengths[l.Reads.indexOf(record)])
}

// HasNonACGT reports whether a record's read has letters other than A, C, G and T in either case; false also where that is not in memory.
func (l *Layout) HasNonACGT(record uint32) bool {
	return l.Reads.nonACGT != nil && l.Reads.hasNonACGT(l.Reads.indexOf(record))
}

// LengthsDiffer reports whether n records from `first` on have reads of different lengths.
func (l *Layout) LengthsDiffer(first, n uint32) bool {
	for i := range n {
		if l.LengthOf(first+i) != l.LengthOf(first) {
			return true
		}
	}
	return false
}

// Places sets pos and reversed to what Place returns of the records, which may be all over the memory.
func (l *Layout) Places(records, pos []uint32, reversed []bool) {
	const ahead = 16 // how many records before it is used a place is loaded into the cache
	if l.placements == nil {
		for i := range pos {
			pos[i], reversed[i] = Unplaced, false
		}
		return
	}
	all := l.placements.pos
	for i, rec := range records {
		if i+ahead < len(records) {
			prefetch.Line(unsafe.Pointer(&all[l.firstRecord+records[i+ahead]]))
		}
		pos[i], reversed[i] = l.Place(rec)
	}
}

// Bases appends the bases of a record's read to dst, one per byte (0..3), in input orientation. The value of a letter other
// than A, C, G and T is arbitrary.
func (l *Layout) Bases(dst []byte, record uint32) []byte {
	i := l.Reads.indexOf(record)
	n := l.Reads.len(i)
	at := len(dst)
	dst = bases.Unpack(dst, l.Reads.bases(i), 0, n)
	if l.Reads.signaturePlace[i]&1 != 0 {
		s := dst[at:]
		for a, b := 0, len(s)-1; a <= b; a, b = a+1, b-1 {
			s[a], s[b] = 3-s[b], 3-s[a]
		}
	}
	return dst
}

// Stretch appends the n bases of the pseudogenome from pos on to dst, one per byte (0..3).
func (p *Pseudogenome) Stretch(dst []byte, pos, n int) []byte {
	return bases.Unpack(dst, p.Packed, pos, n)
}
