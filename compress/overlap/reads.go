// Package overlap lays reads out on a pseudogenome: contigs in bins, contigs joined across
// bins, reads placed on the result. Where memory is too small for all reads of an archive at once, each
// step goes over shares of their signatures, one after another.
package overlap

import (
	"context"
	"slices"
	"sort"

	"orcomgo/bins/record"

	"orcomgo/bins"
)

// Reads holds reads in memory, grouped by signature as the bins hold them. Reads have two
// numbers: the index i in this grouping, and the record, which counts the records of an archive, or
// of the sources that were loaded, in input order, input after input.
type Reads struct {
	packed []byte // stored orientation, each read on a byte of its own, then pad
	off    []uint64
	stride uint64 // used where off is nil
	length []uint32
	fixed  uint32

	record []uint32 // by index
	index  []uint32 // by record; nil if not needed, or if reads stand by record
	only   *Subset  // the records that are here, if they stand by record and are not all
	place  []uint32 // by index, as bins.Block.Place

	groups []bins.Bin

	exceptions []record.Exception // Read is the record; ascending
	odd        []uint64           // bit set of the indices of reads that have some other than Lower
}

// Source names a run of records of one input: From..To-1.
type Source struct {
	Input    int
	From, To uint64
}

// records are runs of records of the bins, numbered one after another.
type records struct {
	bins   *bins.Reader
	pieces []piece
	count  int
	varied bool
	fixed  uint32 // length of all reads unless varied
}

// piece is what of one block belongs to the records: ordinals from..to-1, of which the first is record base.
type piece struct {
	block    int
	base     uint32
	from, to uint32
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
			rs.pieces = append(rs.pieces, piece{b, uint32(rs.count) + uint32(lo-s.From), uint32(lo - info.FirstRecord), uint32(hi - info.FirstRecord)})
			switch {
			case info.Varied:
				rs.varied = true
			case first:
				rs.fixed, first = info.FixedLen, false
			case rs.fixed != info.FixedLen:
				rs.varied = true
			}
		}
		rs.count += int(s.To - s.From)
	}
	return rs
}

// lengths calls f with the length of each record's read.
func (rs *records) lengths(ctx context.Context, f func(record uint32, n int)) error {
	for _, p := range rs.pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		var blk bins.Block
		if err := rs.bins.ReadColumns(p.block, bins.WantLengths, &blk); err != nil {
			return err
		}
		for o := p.from; o < p.to; o++ {
			f(p.base+o-p.from, blk.Lengths.Of(int(o)))
		}
	}
	return nil
}

// share is some of the records: those of signatures lo..hi (inclusive) in some of the pieces.
type share struct {
	lo, hi   uint32
	from, to int      // pieces
	starts   []uint32 // see counted; nil until it is known
}

// all is the share of everything.
func (rs *records) all() *share { return &share{hi: bins.NBin, to: len(rs.pieces)} }

// counted returns where the reads of each signature of a share begin if they are grouped by it, and at last how many there are.
func (rs *records) counted(ctx context.Context, sh *share) ([]uint32, error) {
	if sh.starts != nil {
		return sh.starts, nil
	}
	starts := make([]uint32, sh.hi-sh.lo+2)
	for _, p := range rs.pieces[sh.from:sh.to] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if p.from == 0 && int(p.to) == rs.bins.Meta().Blocks[p.block].Records {
			idx, err := rs.bins.BinIndex(p.block)
			if err != nil {
				return nil, err
			}
			for _, g := range idx {
				if g.Signature >= sh.lo && g.Signature <= sh.hi {
					starts[g.Signature-sh.lo+1] += g.Reads
				}
			}
			continue
		}
		var blk bins.Block
		if err := rs.bins.ReadBins(p.block, sh.lo, sh.hi, &blk); err != nil {
			return nil, err
		}
		i := 0
		for _, g := range blk.Bins {
			for k := uint32(0); k < g.Reads; k++ {
				if o := blk.Order[i]; o >= p.from && o < p.to {
					starts[g.Signature-sh.lo+1]++
				}
				i++
			}
		}
	}
	for s := range starts[1:] {
		starts[s+1] += starts[s]
	}
	sh.starts = starts
	return starts, nil
}

// load reads a share from the bins.
func (rs *records) load(ctx context.Context, sh *share) (*Reads, error) {
	rd := &Reads{fixed: rs.fixed}
	meta := rs.bins.Meta()
	pieces := rs.pieces[sh.from:sh.to]
	starts, err := rs.counted(ctx, sh)
	if err != nil {
		return nil, err
	}
	for s, from := range starts[:len(starts)-1] {
		if reads := starts[s+1] - from; reads > 0 {
			rd.groups = append(rd.groups, bins.Bin{Signature: sh.lo + uint32(s), Reads: reads})
		}
	}
	n := int(starts[len(starts)-1])
	rd.record = make([]uint32, n)
	rd.place = make([]uint32, n)
	rd.odd = make([]uint64, n/64+1)
	// Where lengths vary, they come first, so that offsets are known before the bases come.
	scatter := func(f func(i uint32, info *bins.BlockInfo, blk *bins.Block, k, at, bases int), end func(p piece, info *bins.BlockInfo) error) error {
		next := slices.Clone(starts)
		for _, p := range pieces {
			if err := ctx.Err(); err != nil {
				return err
			}
			info := &meta.Blocks[p.block]
			var blk bins.Block
			if rs.varied {
				if err := rs.bins.ReadColumns(p.block, bins.WantLengths, &blk); err != nil {
					return err
				}
			}
			g, left := -1, uint32(0) // the bin at hand and how many of its reads are to come
			err := rs.bins.EachPart(p.block, sh.lo, sh.hi, &blk, func() error {
				at := 0
				for k, o := range blk.Order {
					if left == 0 {
						g++
						left = blk.Bins[g].Reads
					}
					left--
					l := blk.Lengths.Of(int(o))
					if o >= p.from && o < p.to {
						n := &next[blk.Bins[g].Signature-sh.lo]
						i := *n
						*n++
						rd.record[i] = p.base + o - p.from
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
	if rs.varied {
		rd.length = make([]uint32, n)
		err := scatter(func(i uint32, _ *bins.BlockInfo, _ *bins.Block, _, _, l int) { rd.length[i] = uint32(l) },
			func(piece, *bins.BlockInfo) error { return nil })
		if err != nil {
			return nil, err
		}
	}
	rd.allot(n)
	// Where reads of the block at hand went, index + 1 by ordinal, for their exceptions.
	var went []uint32
	for _, p := range pieces {
		if info := &meta.Blocks[p.block]; info.HasExceptions && info.Records > len(went) {
			went = make([]uint32, info.Records)
		}
	}
	err = scatter(func(i uint32, info *bins.BlockInfo, blk *bins.Block, k, at, l int) {
		rd.place[i] = blk.Place[k]
		copy(rd.packed[rd.offset(int(i)):], blk.Packed[at:at+record.PackedLen(l)])
		if info.HasExceptions {
			went[blk.Order[k]] = i + 1
		}
	}, func(p piece, info *bins.BlockInfo) error {
		if !info.HasExceptions {
			return nil
		}
		var blk bins.Block
		if err := rs.bins.ReadColumns(p.block, bins.WantExceptions, &blk); err != nil {
			return err
		}
		for _, e := range blk.Exceptions {
			if i := went[e.Read]; i != 0 {
				e.Read = rd.record[i-1]
				rd.except(int(i-1), e)
			}
		}
		clear(went)
		return nil
	})
	if err != nil {
		return nil, err
	}
	rd.sortExceptions()
	return rd, nil
}

// allot makes room for the bases of n reads, whose lengths are known.
func (rd *Reads) allot(n int) {
	if rd.length == nil {
		rd.stride = uint64(record.PackedLen(int(rd.fixed)))
		rd.packed = make([]byte, uint64(n)*rd.stride+pad)
		return
	}
	rd.off = make([]uint64, n+1)
	for i, l := range rd.length {
		rd.off[i+1] = rd.off[i] + uint64(record.PackedLen(int(l)))
	}
	rd.packed = make([]byte, rd.off[n]+pad)
}

// except adds an exception of read i.
func (rd *Reads) except(i int, e record.Exception) {
	rd.exceptions = append(rd.exceptions, e)
	if e.Byte != record.Lower {
		rd.odd[i>>6] |= 1 << (i & 63)
	}
}

func (rd *Reads) sortExceptions() {
	sort.Slice(rd.exceptions, func(i, j int) bool {
		a, b := &rd.exceptions[i], &rd.exceptions[j]
		return a.Read < b.Read || a.Read == b.Read && a.Start < b.Start
	})
}

// indexed makes the reads, which are all of some sources, known by record.
func (rd *Reads) indexed() *Reads {
	rd.index = make([]uint32, rd.Count())
	for i, rec := range rd.record {
		rd.index[rec] = uint32(i)
	}
	return rd
}

// at returns the index of a record that is there.
func (rd *Reads) at(record uint32) int {
	switch {
	case rd.index != nil:
		return int(rd.index[record])
	case rd.only != nil:
		return rd.only.rank(record)
	}
	return int(record)
}

// Has reports whether the read of a record is there.
func (rd *Reads) Has(record uint32) bool { return rd.only == nil || rd.only.Has(record) }

// byRecord reads the records of only (nil: all), for at and what needs no more.
func (rs *records) byRecord(ctx context.Context, only *Subset) (*Reads, error) {
	rd := &Reads{fixed: rs.fixed, only: only}
	n := rs.count
	if only != nil {
		n = only.seal()
	}
	rd.place = make([]uint32, n)
	if rs.varied {
		rd.length = make([]uint32, n)
		err := rs.lengths(ctx, func(record uint32, l int) {
			if rd.Has(record) {
				rd.length[rd.at(record)] = uint32(l)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	rd.allot(n)
	for _, p := range rs.pieces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var blk bins.Block
		if err := rs.bins.ReadColumns(p.block, bins.WantLengths|bins.WantExceptions, &blk); err != nil {
			return nil, err
		}
		err := rs.bins.EachPart(p.block, 0, bins.NBin, &blk, func() error {
			at := 0
			for k, o := range blk.Order {
				size := record.PackedLen(blk.Lengths.Of(int(o)))
				if record := p.base + o - p.from; o >= p.from && o < p.to && rd.Has(record) {
					i := rd.at(record)
					rd.place[i] = blk.Place[k]
					copy(rd.packed[rd.offset(i):], blk.Packed[at:at+size])
				}
				at += size
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, e := range blk.Exceptions {
			if record := p.base + e.Read - p.from; e.Read >= p.from && e.Read < p.to && rd.Has(record) {
				e.Read = record
				rd.exceptions = append(rd.exceptions, e)
			}
		}
	}
	rd.sortExceptions()
	return rd, nil
}

// selection returns a set of reads like those of rs, empty, for take and finish.
func (rs *records) selection() *Reads {
	rd := &Reads{fixed: rs.fixed}
	if rs.varied {
		rd.off = []uint64{0}
	} else {
		rd.stride = uint64(record.PackedLen(int(rs.fixed)))
	}
	return rd
}

// take adds read i of from.
func (rd *Reads) take(from *Reads, i int) {
	n := from.len(i)
	rd.packed = append(rd.packed, from.bases(i)[:record.PackedLen(n)]...)
	if rd.off != nil {
		rd.length = append(rd.length, uint32(n))
		rd.off = append(rd.off, uint64(len(rd.packed)))
	}
	k := rd.Count()
	rd.record, rd.place = append(rd.record, from.record[i]), append(rd.place, from.place[i])
	if k&63 == 0 {
		rd.odd = append(rd.odd, 0)
	}
	if from.isOdd(i) {
		for _, e := range from.Exceptions(from.record[i]) {
			rd.except(k, e)
		}
	}
}

// finish ends a selection.
func (rd *Reads) finish() *Reads {
	rd.packed = append(rd.packed, make([]byte, pad)...)
	rd.sortExceptions()
	return rd
}

// meanLength returns how long the reads of the records are on average, roughly.
func (rs *records) meanLength() uint64 {
	bases, reads := uint64(0), uint64(1)
	for _, p := range rs.pieces {
		info := &rs.bins.Meta().Blocks[p.block]
		bases, reads = bases+info.Bases, reads+uint64(info.Records)
	}
	return bases / reads
}

// exceptionBytes is what an exception takes, with the slack of the list that it is in.
const exceptionBytes = 20

// placedBytes8 is what the place of a record takes, and its index where all reads are in memory, in eighths of a byte.
const placedBytes8 = 41 + 32

// bytes returns how much memory the reads take.
func (rd *Reads) bytes() uint64 {
	return uint64(len(rd.packed)) + 8*uint64(len(rd.place)) + 12*uint64(len(rd.length)) + exceptionBytes*uint64(len(rd.exceptions))
}

// Count returns the number of reads.
func (rd *Reads) Count() int { return len(rd.place) }

func (rd *Reads) offset(i int) uint64 {
	if rd.off != nil {
		return rd.off[i]
	}
	return uint64(i) * rd.stride
}

// bases returns the packed bases of read i, in stored orientation, with room to load past its end.
func (rd *Reads) bases(i int) []byte { return rd.packed[rd.offset(i):] }

func (rd *Reads) len(i int) int {
	if rd.length != nil {
		return int(rd.length[i])
	}
	return int(rd.fixed)
}

// isOdd reports whether read i has bytes other than A, C, G, T in either case.
func (rd *Reads) isOdd(i int) bool { return rd.odd[i>>6]>>(i&63)&1 != 0 }

// Exceptions returns the exceptions of a record, in input orientation.
func (rd *Reads) Exceptions(record uint32) []record.Exception {
	lo := sort.Search(len(rd.exceptions), func(i int) bool { return rd.exceptions[i].Read >= record })
	hi := lo
	for hi < len(rd.exceptions) && rd.exceptions[hi].Read == record {
		hi++
	}
	return rd.exceptions[lo:hi]
}

// clean returns the longest stretch [a, b) of read i, in stored orientation, without odd bytes.
func (rd *Reads) clean(i int) (a, b int) {
	n := rd.len(i)
	if !rd.isOdd(i) {
		return 0, n
	}
	at := 0
	for _, e := range rd.Exceptions(rd.record[i]) {
		if e.Byte == record.Lower {
			continue
		}
		if int(e.Start)-at > b-a {
			a, b = at, int(e.Start)
		}
		at = int(e.Start + e.Len)
	}
	if n-at > b-a {
		a, b = at, n
	}
	if rd.place[i]&1 != 0 {
		a, b = n-b, n-a
	}
	return a, b
}

// skipMask fills dst with a chunk mask of the odd bytes of read i in the given
// orientation (stored, or its reverse), or returns nil where there are none.
func (rd *Reads) skipMask(dst []uint64, i int, reversed bool) []uint64 {
	if !rd.isOdd(i) {
		return nil
	}
	n := rd.len(i)
	dst = dst[:0]
	for k := 0; k < n; k += chunk {
		dst = append(dst, 0)
	}
	flip := rd.place[i]&1 != 0 != reversed
	for _, e := range rd.Exceptions(rd.record[i]) {
		if e.Byte == record.Lower {
			continue
		}
		for p := int(e.Start); p < int(e.Start+e.Len); p++ {
			q := p
			if flip {
				q = n - 1 - p
			}
			dst[q/chunk] |= 1 << (2 * uint(q%chunk))
		}
	}
	return dst
}
