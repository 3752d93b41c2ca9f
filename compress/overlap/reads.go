// Package overlap lays reads out on a pseudogenome: contigs in bins, contigs joined across
// bins, reads placed on the result. It works on the reads of one part of an archive, all in
// memory; the caller cuts the archive into parts that fit.
package overlap

import (
	"context"
	"sort"

	"orcomgo/bins"
)

// Reads holds the reads of one part, grouped by signature as the bins hold them. Reads
// have two numbers: the index i in this grouping, and the record, which counts the part's
// records in input order, input after input.
type Reads struct {
	packed []byte // stored orientation, each read on a byte of its own, then pad
	off    []uint64
	stride uint64 // used where off is nil
	length []uint32
	fixed  uint32

	record []uint32 // by index
	index  []uint32 // by record
	place  []uint32 // by index, as bins.Block.Place

	groups []bins.Bin

	exceptions []bins.Exception // Read is the record; ascending
	odd        []uint64         // bit set of the records that have some other than Lower
}

// Source names a run of records of one input: From..To-1.
type Source struct {
	Input    int
	From, To uint64
}

// Load reads the records of srcs, at most 2^32-2 of them, from the bins.
func Load(ctx context.Context, r *bins.Reader, srcs []Source) (*Reads, error) {
	rd := &Reads{}
	n := 0
	for _, s := range srcs {
		n += int(s.To - s.From)
	}
	rd.record = make([]uint32, n)
	rd.index = make([]uint32, n)
	rd.place = make([]uint32, n)
	rd.odd = make([]uint64, n/64+1)

	type piece struct {
		block    int
		base     uint32 // record of the first read kept
		from, to uint32 // ordinals of the block that belong to the part
	}
	var pieces []piece
	var count [bins.NBin + 2]uint32
	varied, first := false, true
	base := uint32(0)
	meta := r.Meta()
	for _, s := range srcs {
		for b, info := range meta.Blocks {
			lo, hi := max(s.From, info.FirstRecord), min(s.To, info.FirstRecord+uint64(info.Records))
			if info.Input != s.Input || lo >= hi {
				continue
			}
			pieces = append(pieces, piece{b, base + uint32(lo-s.From), uint32(lo - info.FirstRecord), uint32(hi - info.FirstRecord)})
			switch {
			case info.Varied:
				varied = true
			case first:
				rd.fixed, first = info.FixedLen, false
			case rd.fixed != info.FixedLen:
				varied = true
			}
		}
		base += uint32(s.To - s.From)
	}

	if varied {
		rd.length = make([]uint32, n)
	} else {
		rd.stride = uint64(bins.PackedLen(int(rd.fixed)))
	}
	// First pass: how many reads of each signature, and what is odd.
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var blk bins.Block
		if err := r.ReadColumns(p.block, bins.WantExceptions, &blk); err != nil {
			return nil, err
		}
		for _, e := range blk.Exceptions {
			if e.Read < p.from || e.Read >= p.to {
				continue
			}
			e.Read = p.base + e.Read - p.from
			rd.exceptions = append(rd.exceptions, e)
			if e.Byte != bins.Lower {
				rd.odd[e.Read>>6] |= 1 << (e.Read & 63)
			}
		}
		idx, err := r.BinIndex(p.block)
		if err != nil {
			return nil, err
		}
		whole := p.from == 0 && int(p.to) == meta.Blocks[p.block].Records
		if whole {
			for _, g := range idx {
				count[g.Signature+1] += g.Reads
			}
			continue
		}
		if err := r.ReadBins(p.block, 0, bins.NBin, &blk); err != nil {
			return nil, err
		}
		i := 0
		for _, g := range blk.Bins {
			for k := uint32(0); k < g.Reads; k++ {
				if o := blk.Order[i]; o >= p.from && o < p.to {
					count[g.Signature+1]++
				}
				i++
			}
		}
	}
	sort.Slice(rd.exceptions, func(i, j int) bool {
		a, b := &rd.exceptions[i], &rd.exceptions[j]
		return a.Read < b.Read || a.Read == b.Read && a.Start < b.Start
	})
	for s := 0; s <= bins.NBin; s++ {
		if count[s+1] > 0 {
			rd.groups = append(rd.groups, bins.Bin{Signature: uint32(s), Reads: count[s+1]})
		}
		count[s+1] += count[s]
	}
	// Second pass: order first, so that offsets are known before the bases come.
	next := count
	scatter := func(f func(i uint32, blk *bins.Block, k int, at, bases int)) error {
		next = count
		for _, p := range pieces {
			if err := ctx.Err(); err != nil {
				return err
			}
			var blk bins.Block
			if varied {
				if err := r.ReadColumns(p.block, bins.WantLengths, &blk); err != nil {
					return err
				}
			}
			if err := r.ReadBins(p.block, 0, bins.NBin, &blk); err != nil {
				return err
			}
			k, at := 0, 0
			for _, g := range blk.Bins {
				for j := uint32(0); j < g.Reads; j++ {
					o := blk.Order[k]
					keep := o >= p.from && o < p.to
					rec := p.base + o - p.from
					l := int(rd.fixed)
					if varied {
						l = blk.Len(int(o))
					}
					if keep {
						i := next[g.Signature]
						next[g.Signature]++
						rd.record[i] = rec
						f(i, &blk, k, at, l)
					}
					at += bins.PackedLen(l)
					k++
				}
			}
		}
		return nil
	}
	if varied {
		if err := scatter(func(i uint32, _ *bins.Block, _, _, l int) { rd.length[i] = uint32(l) }); err != nil {
			return nil, err
		}
		rd.off = make([]uint64, n+1)
		for i, l := range rd.length {
			rd.off[i+1] = rd.off[i] + uint64(bins.PackedLen(int(l)))
		}
		rd.packed = make([]byte, rd.off[n]+pad)
	} else {
		rd.packed = make([]byte, uint64(n)*rd.stride+pad)
	}
	err := scatter(func(i uint32, blk *bins.Block, k, at, l int) {
		rd.place[i] = blk.Place[k]
		copy(rd.packed[rd.offset(int(i)):], blk.Packed[at:at+bins.PackedLen(l)])
	})
	if err != nil {
		return nil, err
	}
	for i, rec := range rd.record {
		rd.index[rec] = uint32(i)
	}
	return rd, nil
}

// Count returns the number of reads.
func (rd *Reads) Count() int { return len(rd.record) }

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

// isOdd tells whether the record has bytes other than A, C, G, T in either case.
func (rd *Reads) isOdd(record uint32) bool { return rd.odd[record>>6]>>(record&63)&1 != 0 }

// Exceptions returns the exceptions of a record, in input orientation.
func (rd *Reads) Exceptions(record uint32) []bins.Exception {
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
	rec := rd.record[i]
	if !rd.isOdd(rec) {
		return 0, n
	}
	at := 0
	for _, e := range rd.Exceptions(rec) {
		if e.Byte == bins.Lower {
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
	rec := rd.record[i]
	if !rd.isOdd(rec) {
		return nil
	}
	n := rd.len(i)
	dst = dst[:0]
	for k := 0; k < n; k += chunk {
		dst = append(dst, 0)
	}
	flip := rd.place[i]&1 != 0 != reversed
	for _, e := range rd.Exceptions(rec) {
		if e.Byte == bins.Lower {
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
