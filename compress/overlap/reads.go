// Package overlap lays reads out on a pseudogenome. It assembles contigs in each bin, joins contigs across bins, and places
// all reads on the resulting sequence. If memory is too small for all reads of an archive at once, each step processes
// shares of the reads (ranges of signatures), one after another.
package overlap

import (
	"context"
	"slices"

	"orcomgo/bins/record"

	"orcomgo/bins"
)

// Reads holds reads in memory, grouped by signature as in the bins. A read has two numbers: its index i in this grouping, and
// its record, which counts the records of the loaded sources in input order, one source after another.
type Reads struct {
	packed      []byte // stored orientation, each read starts on a byte; followed by padBytes
	offsets     []uint64
	stride      uint64 // bytes per read; used if offsets is nil
	lengths     []uint32
	fixedLength uint32

	records        []uint32 // by index
	indexByRecord  []uint32 // by record; nil if not needed, or if reads are ordered by record
	subset         *Subset  // the loaded records, if reads are ordered by record and not all are loaded
	signaturePlace []uint32 // by index, as in bins.Block.Place: position of the signature << 1 | stored reversed

	groups []bins.Bin

	// exceptions are the runs of letters other than A, C, G and T in either case, in input orientation. Exception.Read is the record, or
	// the index if byIndex is set. Reads that are ordered by record don't have them.
	exceptions record.ExceptionList
	byIndex    bool
	nonACGT    []uint64 // one bit per index: the read has such letters
}

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
	rs := &records{bins: r}
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

// lengths calls f with the length in bases of each record's read.
func (rs *records) lengths(ctx context.Context, f func(record uint32, n int)) error {
	for _, p := range rs.ranges {
		if err := ctx.Err(); err != nil {
			return err
		}
		var blk bins.Block
		if err := rs.bins.ReadColumns(p.block, bins.WantLengths, &blk); err != nil {
			return err
		}
		for o := p.from; o < p.to; o++ {
			f(p.firstRecord+o-p.from, blk.Lengths.Of(int(o)))
		}
	}
	return nil
}

// share is a part of the records: those with signatures minSignature..maxSignature (inclusive) in some ranges.
type share struct {
	minSignature, maxSignature uint32
	ranges                     []blockRange
	starts                     []uint32 // see groupStarts; nil until computed
}

// all returns the share with all records.
func (rs *records) all() *share { return &share{maxSignature: bins.NBin, ranges: rs.ranges} }

// groupStarts returns the index of the first read of each signature of a share, and last the number of reads.
func (rs *records) groupStarts(ctx context.Context, sh *share) ([]uint32, error) {
	if sh.starts != nil {
		return sh.starts, nil
	}
	starts := make([]uint32, sh.maxSignature-sh.minSignature+2)
	for _, p := range sh.ranges {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if p.from == 0 && int(p.to) == rs.bins.Meta().Blocks[p.block].Records {
			idx, err := rs.bins.BinIndex(p.block)
			if err != nil {
				return nil, err
			}
			for _, g := range idx {
				if g.Signature >= sh.minSignature && g.Signature <= sh.maxSignature {
					starts[g.Signature-sh.minSignature+1] += g.Reads
				}
			}
			continue
		}
		var blk bins.Block
		if err := rs.bins.ReadColumns(p.block, bins.WantLengths, &blk); err != nil {
			return nil, err
		}
		g, left := -1, uint32(0) // the current bin, and how many of its reads are left
		err := rs.bins.EachPart(p.block, sh.minSignature, sh.maxSignature, &blk, func() error {
			for _, o := range blk.Order {
				if left == 0 {
					g++
					left = blk.Bins[g].Reads
				}
				left--
				if o >= p.from && o < p.to {
					starts[blk.Bins[g].Signature-sh.minSignature+1]++
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for s := range starts[1:] {
		starts[s+1] += starts[s]
	}
	sh.starts = starts
	return starts, nil
}

// load reads a share from the bins, grouped by signature.
func (rs *records) load(ctx context.Context, sh *share) (*Reads, error) {
	rd := &Reads{fixedLength: rs.fixedLength}
	meta := rs.bins.Meta()
	starts, err := rs.groupStarts(ctx, sh)
	if err != nil {
		return nil, err
	}
	for s, from := range starts[:len(starts)-1] {
		if reads := starts[s+1] - from; reads > 0 {
			rd.groups = append(rd.groups, bins.Bin{Signature: sh.minSignature + uint32(s), Reads: reads})
		}
	}
	n := int(starts[len(starts)-1])
	rd.records = make([]uint32, n)
	rd.signaturePlace = make([]uint32, n)
	rd.nonACGT = make([]uint64, n/64+1)
	// scatter calls f for each read of the share, and end after each block. If lengths vary, it runs twice: offsets must be
	// known before bases are copied.
	scatter := func(
		f func(i uint32, info *bins.BlockInfo, blk *bins.Block, k, at, bases int),
		end func(p blockRange, info *bins.BlockInfo) error,
	) error {
		next := slices.Clone(starts)
		for _, p := range sh.ranges {
			if err := ctx.Err(); err != nil {
				return err
			}
			info := &meta.Blocks[p.block]
			var blk bins.Block
			if rs.variedLengths {
				if err := rs.bins.ReadColumns(p.block, bins.WantLengths, &blk); err != nil {
					return err
				}
			}
			g, left := -1, uint32(0) // the current bin and the number of its reads that are left
			err := rs.bins.EachPart(p.block, sh.minSignature, sh.maxSignature, &blk, func() error {
				at := 0
				for k, o := range blk.Order {
					if left == 0 {
						g++
						left = blk.Bins[g].Reads
					}
					left--
					l := blk.Lengths.Of(int(o))
					if o >= p.from && o < p.to {
						n := &next[blk.Bins[g].Signature-sh.minSignature]
						i := *n
						*n++
						rd.records[i] = p.firstRecord + o - p.from
						f(i, info, &blk, k, at, l)
					}
					at += record.PackedLen(l)
				}
				return nil
			})
			if err != nil {
				return err
			}
			if err := end(p, info); err != nil {
				return err
			}
		}
		return nil
	}
	if rs.variedLengths {
		rd.lengths = make([]uint32, n)
		err := scatter(func(i uint32, _ *bins.BlockInfo, _ *bins.Block, _, _, l int) { rd.lengths[i] = uint32(l) },
			func(blockRange, *bins.BlockInfo) error { return nil })
		if err != nil {
			return nil, err
		}
	}
	rd.allocate(n)
	// Index + 1 of the reads of the current block, by record of the block, to assign exceptions to reads; 0 for reads that are
	// not in the share.
	var indexes []uint32
	exceptions, ofRanges := uint64(0), uint64(0) // bytes of the exceptions of the ranges, and their reads
	for _, p := range sh.ranges {
		if info := &meta.Blocks[p.block]; info.HasExceptions && info.Records > len(indexes) {
			indexes = make([]uint32, info.Records)
		}
		info := &meta.Blocks[p.block]
		exceptions += info.ExceptionBytes() * uint64(p.to-p.from) / uint64(info.Records)
		ofRanges += uint64(p.to - p.from)
	}
	rd.exceptions.Grow(int(float64(exceptions) * float64(n) / float64(max(ofRanges, 1))))
	err = scatter(func(i uint32, info *bins.BlockInfo, blk *bins.Block, k, at, l int) {
		rd.signaturePlace[i] = blk.Place[k]
		copy(rd.packed[rd.offset(int(i)):], blk.Packed[at:at+record.PackedLen(l)])
		if info.HasExceptions {
			indexes[blk.Order[k]] = i + 1
		}
	}, func(p blockRange, info *bins.BlockInfo) error {
		if !info.HasExceptions {
			return nil
		}
		var blk bins.Block
		if err := rs.bins.ReadColumns(p.block, bins.WantLengths, &blk); err != nil {
			return err
		}
		err := rs.bins.EachException(p.block, &blk.Lengths, func(e record.Exception) error {
			if i := indexes[e.Read]; i != 0 {
				e.Read = rd.records[i-1]
				rd.addException(int(i-1), e)
			}
			return nil
		})
		clear(indexes)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rd, nil
}

// allocate allocates memory for the bases of n reads, whose lengths are set.
func (rd *Reads) allocate(n int) {
	if rd.lengths == nil {
		rd.stride = uint64(record.PackedLen(int(rd.fixedLength)))
		rd.packed = make([]byte, uint64(n)*rd.stride+padBytes)
		return
	}
	rd.offsets = make([]uint64, n+1)
	for i, l := range rd.lengths {
		rd.offsets[i+1] = rd.offsets[i] + uint64(record.PackedLen(int(l)))
	}
	rd.packed = make([]byte, rd.offsets[n]+padBytes)
}

// addException adds an exception of read i, which comes after those that are there, unless it is only lower case.
func (rd *Reads) addException(i int, e record.Exception) {
	if e.Byte != record.Lower {
		rd.exceptions.Append(e)
		rd.nonACGT[i>>6] |= 1 << (i & 63)
	}
}

// eachException calls f with the exceptions of read i by ascending position. hasNonACGT says whether there are any.
func (rd *Reads) eachException(i int, f func(e record.Exception)) {
	key := uint32(i)
	if !rd.byIndex {
		key = rd.records[i]
	}
	for c := rd.exceptions.From(key); ; {
		e, ok := c.Next()
		if !ok || e.Read != key {
			return
		}
		f(e)
	}
}

// indexRecords prepares indexOf. Reads must hold all records of some sources.
func (rd *Reads) indexRecords() *Reads {
	rd.indexByRecord = make([]uint32, rd.Count())
	for i, rec := range rd.records {
		rd.indexByRecord[rec] = uint32(i)
	}
	return rd
}

// indexOf returns the index of a loaded record.
func (rd *Reads) indexOf(record uint32) int {
	switch {
	case rd.indexByRecord != nil:
		return int(rd.indexByRecord[record])
	case rd.subset != nil:
		return rd.subset.rank(record)
	}
	return int(record)
}

// Has reports whether the read of a record is loaded.
func (rd *Reads) Has(record uint32) bool { return rd.subset == nil || rd.subset.Has(record) }

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
		rd.lengths = make([]uint32, n)
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
	for _, p := range rs.ranges {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var blk bins.Block
		if err := rs.bins.ReadColumns(p.block, bins.WantLengths, &blk); err != nil {
			return nil, err
		}
		err := rs.bins.EachPart(p.block, 0, bins.NBin, &blk, func() error {
			at := 0
			for k, o := range blk.Order {
				size := record.PackedLen(blk.Lengths.Of(int(o)))
				if record := p.firstRecord + o - p.from; o >= p.from && o < p.to && rd.Has(record) {
					i := rd.indexOf(record)
					rd.signaturePlace[i] = blk.Place[k]
					copy(rd.packed[rd.offset(i):], blk.Packed[at:at+size])
				}
				at += size
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return rd, nil
}

// emptyReads returns a list of no reads, to which reads of rs are added by add; finish completes it.
func (rs *records) emptyReads() *Reads {
	rd := &Reads{fixedLength: rs.fixedLength, byIndex: true}
	if rs.variedLengths {
		rd.offsets = []uint64{0}
	} else {
		rd.stride = uint64(record.PackedLen(int(rs.fixedLength)))
	}
	return rd
}

// add appends read i of from.
func (rd *Reads) add(from *Reads, i int) {
	n := from.len(i)
	rd.packed = append(rd.packed, from.bases(i)[:record.PackedLen(n)]...)
	if rd.offsets != nil {
		rd.lengths = append(rd.lengths, uint32(n))
		rd.offsets = append(rd.offsets, uint64(len(rd.packed)))
	}
	k := rd.Count()
	rd.records, rd.signaturePlace = append(rd.records, from.records[i]), append(rd.signaturePlace, from.signaturePlace[i])
	if k&63 == 0 {
		rd.nonACGT = append(rd.nonACGT, 0)
	}
	if from.hasNonACGT(i) {
		from.eachException(i, func(e record.Exception) {
			e.Read = uint32(k)
			rd.addException(k, e)
		})
	}
}

// finish completes a list that emptyReads returned, and returns it.
func (rd *Reads) finish() *Reads {
	rd.packed = append(rd.packed, make([]byte, padBytes)...)
	return rd
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

// placedEighthBytes is the memory of the place of a record and of its index, if all reads are in memory, in eighths of a byte.
const placedEighthBytes = 41 + 32

// bytes returns the memory of the reads.
func (rd *Reads) bytes() uint64 {
	return uint64(
		len(rd.packed),
	) + 8*uint64(
		len(rd.signaturePlace),
	) + 12*uint64(
		len(rd.lengths),
	) + rd.exceptions.Memory()
}

// Count returns the number of reads.
func (rd *Reads) Count() int { return len(rd.signaturePlace) }

func (rd *Reads) offset(i int) uint64 {
	if rd.offsets != nil {
		return rd.offsets[i]
	}
	return uint64(i) * rd.stride
}

// bases returns the packed bases of read i, in stored orientation, and what follows them, at least padBytes.
func (rd *Reads) bases(i int) []byte { return rd.packed[rd.offset(i):] }

func (rd *Reads) len(i int) int {
	if rd.lengths != nil {
		return int(rd.lengths[i])
	}
	return int(rd.fixedLength)
}

// hasNonACGT reports whether read i has letters other than A, C, G and T in either case.
func (rd *Reads) hasNonACGT(i int) bool { return rd.nonACGT[i>>6]>>(i&63)&1 != 0 }

// longestACGT returns the longest range [a, b) of read i, in stored orientation, that has only A, C, G and T.
func (rd *Reads) longestACGT(i int) (a, b int) {
	n := rd.len(i)
	if !rd.hasNonACGT(i) {
		return 0, n
	}
	at := 0
	rd.eachException(i, func(e record.Exception) {
		if int(e.Start)-at > b-a {
			a, b = at, int(e.Start)
		}
		at = int(e.Start + e.Len)
	})
	if n-at > b-a {
		a, b = at, n
	}
	if rd.signaturePlace[i]&1 != 0 {
		a, b = n-b, n-a
	}
	return a, b
}

// skipMask returns, in dst, a mask for each chunk of read i with the low bit set of each letter other than A, C, G and T, in
// stored orientation or, if reversed, the other one. It returns nil if there are no such letters.
func (rd *Reads) skipMask(dst []uint64, i int, reversed bool) []uint64 {
	if !rd.hasNonACGT(i) {
		return nil
	}
	n := rd.len(i)
	dst = dst[:0]
	for k := 0; k < n; k += chunkBases {
		dst = append(dst, 0)
	}
	reverse := rd.signaturePlace[i]&1 != 0 != reversed
	rd.eachException(i, func(e record.Exception) {
		for p := int(e.Start); p < int(e.Start+e.Len); p++ {
			q := p
			if reverse {
				q = n - 1 - p
			}
			dst[q/chunkBases] |= 1 << (2 * uint(q%chunkBases))
		}
	})
	return dst
}
