package overlap

import (
	"context"
	"math/bits"
	"slices"
)

// vote counts the mismatches of buckets of 2^voteBucketBits positions to find how many positions fit in memory at once.
const voteBucketBits = 12

// vote sets each base of the pseudogenome to the most frequent base of the reads that cover it. It processes as much of the
// pseudogenome at once as fits in workBytes.
func (b *builder) vote(ctx context.Context) error {
	pl, n := b.placements, b.seq.n
	votes := make([]uint64, n>>voteBucketBits+1)
	for rec, pos := range pl.pos {
		if pos != Unplaced {
			votes[pos>>voteBucketBits] += uint64(pl.mismatches[rec])
		}
	}
	for lo := 0; lo < n; {
		hi, bytes := lo, uint64(0)
		for hi < n {
			bytes += 4<<voteBucketBits + 8*votes[hi>>voteBucketBits]
			if hi > lo && bytes > b.workBytes {
				break
			}
			hi = min(hi+1<<voteBucketBits, n)
		}
		if err := b.voteRange(ctx, lo, hi); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// voteRange votes on positions lo..hi-1.
func (b *builder) voteRange(ctx context.Context, lo, hi int) error {
	depthChange := make([]int32, hi-lo+1) // coverage of a position minus that of the position before
	var votes []uint64                    // position << 2 | base, for each mismatch
	var rev []byte
	var mask []uint64
	err := b.eachShare(ctx, func(rd *Reads, _ int) error {
		for i, rec := range rd.records {
			pos := b.placements.pos[rec]
			if pos == Unplaced || int(pos) >= hi || int(pos)+rd.len(i) <= lo {
				continue
			}
			depthChange[max(int(pos)-lo, 0)]++
			depthChange[min(int(pos)+rd.len(i), hi)-lo]--
			if b.placements.mismatches[rec] == 0 {
				continue
			}
			read, m := rd.onPseudogenomeStrand(i, b.placements.reversed(rec), &rev, &mask)
			forEachMismatch(b.seq.packed, int(pos), read, rd.len(i), m, func(j int, base byte) {
				if p := int(pos) + j; p >= lo && p < hi {
					votes = append(votes, uint64(p)<<2|uint64(base))
				}
			})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(votes)
	depth, at := int32(0), lo
	for i := 0; i < len(votes); {
		p := int(votes[i] >> 2)
		for ; at <= p; at++ {
			depth += depthChange[at-lo]
		}
		var n [4]int32
		mismatching := int32(0)
		for ; i < len(votes) && int(votes[i]>>2) == p; i++ {
			n[votes[i]&3]++
			mismatching++
		}
		best := 0
		for b := range n {
			if n[b] > n[best] {
				best = b
			}
		}
		if n[best] > depth-mismatching {
			b.seq.set(p, byte(best))
		}
	}
	return nil
}

// onPseudogenomeStrand returns the packed bases of read i on the strand of the pseudogenome, and their skip mask (nil if all
// bases are A, C, G or T). inputReversed says whether the read in input orientation is on the reverse strand.
func (rd *Reads) onPseudogenomeStrand(i int, inputReversed bool, buf *[]byte, mask *[]uint64) (read []byte, m []uint64) {
	reverse := inputReversed != (rd.signaturePlace[i]&1 != 0)
	n := rd.len(i)
	read = rd.bases(i)
	if reverse {
		*buf = slices.Grow((*buf)[:0], (n+3)/4+2*padBytes)[:(n+3)/4+2*padBytes]
		reverseComplementInto(*buf, read, n)
		read = *buf
	}
	if rd.hasNonACGT(i) {
		*mask = rd.skipMask(*mask, i, reverse)
		m = *mask
	}
	return read, m
}

// forEachMismatch compares the n bases of read with pg from pos on, and calls f with the offset in the read and the base of
// the read for each mismatch, in order.
func forEachMismatch(pg []byte, pos int, read []byte, n int, skip []uint64, f func(j int, b byte)) {
	for i := 0; i*chunkBases < n; i++ {
		r := loadChunk(read, i*chunkBases)
		d := mismatchBits(loadChunk(pg, pos+i*chunkBases), r)
		if left := n - i*chunkBases; left < chunkBases {
			d &= firstBases(left)
		}
		if skip != nil {
			d &^= skip[i]
		}
		for ; d != 0; d &= d - 1 {
			k := bits.TrailingZeros64(d)
			f(i*chunkBases+k/2, byte(r>>uint(k)&3))
		}
	}
}

// removeUncovered removes the bases of the pseudogenome that no placed read covers, and adjusts the placements.
func (b *builder) removeUncovered(ctx context.Context) error {
	pl, n := b.placements, b.seq.n
	covered := newBitset(n)
	err := b.records.lengths(ctx, func(rec uint32, length int) {
		if pos := pl.pos[rec]; pos != Unplaced {
			covered.addRange(int(pos), int(pos)+length)
		}
	})
	if err != nil {
		return err
	}
	covered.buildRanks()
	var kept sequence
	var buf []byte
	for i, w := range covered.words {
		buf = unpack(buf[:0], b.seq.packed, 64*i, min(64, n-64*i))
		k := 0
		for j, c := range buf {
			if w>>j&1 != 0 {
				buf[k] = c
				k++
			}
		}
		kept.append(buf[:k])
	}
	for rec, pos := range pl.pos {
		if pos != Unplaced {
			pl.pos[rec] = uint32(covered.rank(pos))
		}
	}
	b.seq = kept
	return nil
}
