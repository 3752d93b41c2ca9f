package overlap

import (
	"context"
	"slices"
	"sync/atomic"
	"unsafe"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/internal/largepages"
	"orcomgo/internal/prefetch"
)

// Source is a range of records of one input: From..To-1, counted from 0. Input is the index in the Inputs of the archive.
type Source struct {
	Input    int
	From, To uint64
}

// records are ranges of records of the bins, numbered one after another.
type records struct {
	bins          *bins.Reader
	ranges        []blockRange
	count         int
	variedLengths bool
	fixedLength   uint32 // length in bases of all reads unless variedLengths
	threads       int    // goroutines that load reads; 0 is one
	pieceReads    uint32 // number of reads from which on a piece ends
}

// blockRange is the part of one block that belongs to the records: records from..to-1 of the block. The first of them has the
// number firstRecord.
type blockRange struct {
	block       int
	firstRecord uint32
	from, to    uint32
}

// recordsOf numbers the records of srcs, at most 2^32-2 of them.
func recordsOf(r *bins.Reader, srcs []Source) *records {
	rs := &records{bins: r, pieceReads: pieceReads}
	first := true
	for _, s := range srcs {
		for b, info := range r.Meta().Blocks {
			lo, hi := max(s.From, info.FirstRecord), min(s.To, info.FirstRecord+uint64(info.Records))
			if info.Input != s.Input || lo >= hi {
				continue
			}
			rs.ranges = append(
				rs.ranges,
				blockRange{b, uint32(rs.count) + uint32(lo-s.From), uint32(lo - info.FirstRecord), uint32(hi - info.FirstRecord)},
			)
			switch {
			case info.Varied:
				rs.variedLengths = true
			case first:
				rs.fixedLength, first = info.FixedLen, false
			case rs.fixedLength != info.FixedLen:
				rs.variedLengths = true
			}
		}
		rs.count += int(s.To - s.From)
	}
	return rs
}

// loaderBytes is the memory of a goroutine that loads reads, in addition to the reads, approximately.
const loaderBytes = 10 << 20

// lengths calls f, from several goroutines, with the length in bases of each record's read.
func (rs *records) lengths(ctx context.Context, f func(record uint32, n int)) error {
	// If lengths vary, a block is read as a whole. Otherwise nothing is read.
	var parts []blockRange
	for _, p := range rs.ranges {
		n := 1
		if !rs.bins.Meta().Blocks[p.block].Varied {
			n = int(p.to-p.from)>>16 + 1
		}
		for _, part := range divideRanges([]blockRange{p}, n) {
			parts = append(parts, part...)
		}
	}
	return eachInParallel(ctx, len(parts), rs.threads, func(_, k int) error {
		p := parts[k]
		var blk bins.Block
		if err := rs.bins.ReadColumns(p.block, bins.WantLengths, &blk); err != nil {
			return err
		}
		for o := p.from; o < p.to; o++ {
			f(p.firstRecord+o-p.from, blk.Lengths.Of(int(o)))
		}
		return nil
	})
}

// meanLength returns the mean length of all reads of the blocks that hold the records, in bases, approximately.
func (rs *records) meanLength() uint64 {
	bases, reads := uint64(0), uint64(1)
	for _, p := range rs.ranges {
		info := &rs.bins.Meta().Blocks[p.block]
		bases, reads = bases+info.Bases, reads+uint64(info.Records)
	}
	return bases / reads
}

// share is a part of the records: those with signatures minSignature..maxSignature (inclusive) in some ranges.
type share struct {
	minSignature, maxSignature uint32
	ranges                     []blockRange
	index                      *shareIndex // nil until computed
}

// all returns the share with all records.
func (rs *records) all() *share { return &share{maxSignature: bins.NBin, ranges: rs.ranges} }

// shareIndex says where the reads of a share are in the bins, and which indices they have when they are loaded.
type shareIndex struct {
	groups []bins.Bin // as in Reads
	reads  int
	bins   [][]loadedBin // by range of the share, ascending by signature
	pieces []piece
}

// loadedBin is the part of a bin that belongs to a share: reads with the indices first..first+reads-1.
type loadedBin struct{ signature, first, reads uint32 }

// piece is a part of a range of a share: the bins with signatures minSignature..maxSignature (inclusive). It is loaded by one
// goroutine.
type piece struct {
	inRange                    int // index in the ranges of the share
	minSignature, maxSignature uint32
}

// pieceReads is the usual number of reads from which on a piece ends.
const pieceReads = 1 << 17

// appendPieces appends the pieces of a range of a share, given the bins of its block.
func (rs *records) appendPieces(pieces []piece, inRange int, all []bins.Bin) []piece {
	reads := uint32(0)
	for _, g := range all {
		if reads == 0 {
			pieces = append(pieces, piece{inRange: inRange, minSignature: g.Signature})
		}
		pieces[len(pieces)-1].maxSignature = g.Signature
		if reads += g.Reads; reads >= rs.pieceReads {
			reads = 0
		}
	}
	return pieces
}

// indexOf returns the index of a share.
func (rs *records) indexOf(ctx context.Context, sh *share) (*shareIndex, error) {
	if sh.index != nil {
		return sh.index, nil
	}
	ix := &shareIndex{bins: make([][]loadedBin, len(sh.ranges))}
	pieces := make([][]piece, len(sh.ranges))
	err := eachInParallel(ctx, len(sh.ranges), rs.threads, func(_, k int) error {
		all, err := rs.bins.BinIndex(sh.ranges[k].block)
		if err != nil {
			return err
		}
		for len(all) > 0 && all[0].Signature < sh.minSignature {
			all = all[1:]
		}
		for len(all) > 0 && all[len(all)-1].Signature > sh.maxSignature {
			all = all[:len(all)-1]
		}
		pieces[k] = rs.appendPieces(nil, k, all)
		for _, g := range all {
			ix.bins[k] = append(ix.bins[k], loadedBin{signature: g.Signature, reads: g.Reads})
		}
		if p := sh.ranges[k]; p.from > 0 || int(p.to) < rs.bins.Meta().Blocks[p.block].Records {
			return rs.countReads(sh, p, ix.bins[k])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	ix.pieces = slices.Concat(pieces...)
	starts := make([]uint32, sh.maxSignature-sh.minSignature+2)
	for _, bs := range ix.bins {
		for _, g := range bs {
			starts[g.signature-sh.minSignature+1] += g.reads
		}
	}
	for s, reads := range starts[1:] {
		if reads > 0 {
			ix.groups = append(ix.groups, bins.Bin{Signature: sh.minSignature + uint32(s), Reads: reads})
		}
		starts[s+1] += starts[s]
	}
	ix.reads = int(starts[len(starts)-1])
	for _, bs := range ix.bins {
		for i := range bs {
			next := &starts[bs[i].signature-sh.minSignature]
			bs[i].first = *next
			*next += bs[i].reads
		}
	}
	sh.index = ix
	return ix, nil
}

// countReads sets the number of reads of each bin that belong to a range of a share.
func (rs *records) countReads(sh *share, p blockRange, loaded []loadedBin) error {
	l := loader{rs: rs}
	for i := range loaded {
		loaded[i].reads = 0
	}
	return l.eachRead(p, sh.minSignature, sh.maxSignature, func(read *bins.StoredRead) { loaded[read.Bin].reads++ })
}

// loader reads pieces. Each goroutine has its own.
type loader struct {
	rs         *records
	blk        bins.Block
	block      int      // number of the block whose lengths blk has, plus 1
	indexes    []uint32 // index of a read by record of its block, plus 1; see exceptions
	exceptions record.ExceptionList
}

// eachRead calls f with the reads of a range that have signatures minSignature..maxSignature.
func (l *loader) eachRead(p blockRange, minSignature, maxSignature uint32, f func(read *bins.StoredRead)) error {
	if l.block != p.block+1 {
		l.block, l.blk.Lengths.Each = p.block+1, nil
	}
	return l.rs.bins.EachRead(p.block, minSignature, maxSignature, &l.blk, func(read *bins.StoredRead) error {
		if read.Record >= p.from && read.Record < p.to {
			f(read)
		}
		return nil
	})
}

// eachLoaded calls f, from several goroutines, with the reads of a share: with the number of each record and the index that its read gets.
func (rs *records) eachLoaded(ctx context.Context, sh *share, ix *shareIndex, f func(record, i uint32, read *bins.StoredRead)) error {
	loaders := make([]loader, max(1, rs.threads))
	return eachInParallel(ctx, len(ix.pieces), rs.threads, func(t, k int) error {
		c := ix.pieces[k]
		p, l := sh.ranges[c.inRange], &loaders[t]
		l.rs = rs
		loaded := ix.bins[c.inRange]
		at, _ := slices.BinarySearchFunc(loaded, c.minSignature, func(b loadedBin, s uint32) int { return int(b.signature) - int(s) })
		loaded = loaded[at:]
		current, i := -1, uint32(0) // bin, and index of its next read
		return l.eachRead(p, c.minSignature, c.maxSignature, func(read *bins.StoredRead) {
			if read.Bin != current {
				current, i = read.Bin, loaded[read.Bin].first
			}
			f(p.firstRecord-p.from+read.Record, i, read)
			i++
		})
	})
}

// load reads a share from the bins, grouped by signature. withIndex prepares Reads.indexOf; the share must then have all records.
func (rs *records) load(ctx context.Context, sh *share, withIndex bool) (*Reads, error) {
	ix, err := rs.indexOf(ctx, sh)
	if err != nil {
		return nil, err
	}
	n := ix.reads
	rd := &Reads{
		fixedLength:    rs.fixedLength,
		groups:         ix.groups,
		records:        largepages.Make[uint32](n),
		signaturePlace: largepages.Make[uint32](n),
		nonACGT:        make([]uint64, n/64+1),
	}
	if withIndex {
		rd.indexByRecord = largepages.Make[uint32](n)
	}
	if rs.variedLengths {
		// Offsets must be known before bases are copied.
		rd.lengths = largepages.Make[uint32](n)
		err := rs.eachLoaded(ctx, sh, ix, func(_, i uint32, read *bins.StoredRead) { rd.lengths[i] = uint32(read.Len) })
		if err != nil {
			return nil, err
		}
	}
	rd.allocate(n)
	err = rs.eachLoaded(ctx, sh, ix, func(record, i uint32, read *bins.StoredRead) {
		copy(rd.packed[rd.offset(int(i)):], read.Packed)
		rd.signaturePlace[i], rd.records[i] = read.Place, record
	})
	if err != nil {
		return nil, err
	}
	inParallel(rs.threads, len(rd.indexByRecord), 1<<16, func(_, from, to int) {
		for i := from; i < to; i++ {
			prefetch.Line(unsafe.Pointer(&rd.indexByRecord[rd.records[min(i+16, to-1)]]))
			rd.indexByRecord[rd.records[i]] = uint32(i)
		}
	})
	return rd, rs.loadExceptions(ctx, sh, ix, rd)
}

// loadExceptions reads the exceptions of a share, whose reads are loaded.
func (rs *records) loadExceptions(ctx context.Context, sh *share, ix *shareIndex, rd *Reads) error {
	var with []int                             // ranges with exceptions
	expected, ofRanges := uint64(0), uint64(1) // bytes of the exceptions of the ranges, and their reads
	for k, p := range sh.ranges {
		info := &rs.bins.Meta().Blocks[p.block]
		if info.HasExceptions {
			with = append(with, k)
		}
		expected += info.ExceptionBytes() * uint64(p.to-p.from) / uint64(max(info.Records, 1))
		ofRanges += uint64(p.to - p.from)
	}
	rd.exceptions.Grow(int(float64(expected) * float64(ix.reads) / float64(ofRanges)))
	// Blocks are read in parallel, as many at a time as there are goroutines, so that few lists have to be in memory twice.
	loaders := make([]loader, max(1, min(rs.threads, len(with))))
	for len(with) > 0 {
		some := with[:min(len(loaders), len(with))]
		err := eachInParallel(ctx, len(some), len(some), func(_, k int) error {
			loaders[k].rs = rs
			return loaders[k].loadExceptions(sh.ranges[some[k]], ix.bins[some[k]], rd)
		})
		if err != nil {
			return err
		}
		for k := range some {
			rd.exceptions.AppendList(&loaders[k].exceptions)
		}
		with = with[len(some):]
	}
	return nil
}

// loadExceptions reads the exceptions of those reads of a range that are in rd, and marks these reads.
func (l *loader) loadExceptions(p blockRange, loaded []loadedBin, rd *Reads) error {
	l.exceptions.Reset()
	if err := l.rs.bins.ReadColumns(p.block, bins.WantLengths, &l.blk); err != nil {
		return err
	}
	if l.blk.Records > len(l.indexes) {
		l.indexes = make([]uint32, l.blk.Records)
	}
	clear(l.indexes)
	for _, b := range loaded {
		for i := b.first; i < b.first+b.reads; i++ {
			l.indexes[rd.records[i]-p.firstRecord+p.from] = i + 1
		}
	}
	return l.rs.bins.EachException(p.block, &l.blk.Lengths, func(e record.Exception) error {
		i := l.indexes[e.Read]
		if i == 0 || e.Byte == record.Lower {
			return nil
		}
		i--
		e.Read = rd.records[i]
		l.exceptions.Append(e)
		atomic.OrUint64(&rd.nonACGT[i>>6], 1<<(i&63)) // reads of other ranges share the word
		return nil
	})
}

// loadByRecord reads the records in only (all, if it is nil) in the order of their numbers. The result has neither groups nor
// records, and hasNonACGT does not work on it.
func (rs *records) loadByRecord(ctx context.Context, only *Subset) (*Reads, error) {
	rd := &Reads{fixedLength: rs.fixedLength, subset: only}
	n := rs.count
	if only != nil {
		n = only.buildRanks()
	}
	rd.signaturePlace = make([]uint32, n)
	if rs.variedLengths {
		rd.lengths = largepages.Make[uint32](n)
		err := rs.lengths(ctx, func(record uint32, l int) {
			if rd.Has(record) {
				rd.lengths[rd.indexOf(record)] = uint32(l)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	rd.allocate(n)
	sh := rs.all()
	var pieces []piece
	for k, p := range sh.ranges {
		all, err := rs.bins.BinIndex(p.block)
		if err != nil {
			return nil, err
		}
		pieces = rs.appendPieces(pieces, k, all)
	}
	loaders := make([]loader, max(1, rs.threads))
	return rd, eachInParallel(ctx, len(pieces), rs.threads, func(t, k int) error {
		c := pieces[k]
		p, l := sh.ranges[c.inRange], &loaders[t]
		l.rs = rs
		return l.eachRead(p, c.minSignature, c.maxSignature, func(read *bins.StoredRead) {
			if record := p.firstRecord + read.Record - p.from; rd.Has(record) {
				i := rd.indexOf(record)
				rd.signaturePlace[i] = read.Place
				copy(rd.packed[rd.offset(i):], read.Packed)
			}
		})
	})
}
