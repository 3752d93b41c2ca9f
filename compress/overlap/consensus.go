package overlap

import (
	"context"
	"math/bits"
	"slices"
)

// voteBucket is by how many bases at a time vote finds out how many votes there will be: 2^voteBucket.
const voteBucket = 12

// vote makes each base of the pseudogenome what most of the reads placed over it have. It counts as much of
// the pseudogenome at once as memory allows.
func (b *builder) vote(ctx context.Context) error {
	pl, n := b.pl, b.seq.n
	votes := make([]uint64, n>>voteBucket+1)
	for rec, pos := range pl.pos {
		if pos != Unplaced {
			votes[pos>>voteBucket] += uint64(pl.miss[rec])
		}
	}
	for lo := 0; lo < n; {
		hi, bytes := lo, uint64(0)
		for hi < n {
			bytes += 4<<voteBucket + 8*votes[hi>>voteBucket]
			if hi > lo && bytes > b.work {
				break
			}
			hi = min(hi+1<<voteBucket, n)
		}
		if err := b.voteIn(ctx, lo, hi); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// voteIn is vote for bases lo..hi-1.
func (b *builder) voteIn(ctx context.Context, lo, hi int) error {
	cover := make([]int32, hi-lo+1) // by how much more reads stand over a base than over the one before
	var votes []uint64              // position << 2 | base, for each mismatch
	var rev []byte
	var mask []uint64
	err := b.each(ctx, func(rd *Reads, _ int) error {
		for i, rec := range rd.record {
			pos := b.pl.pos[rec]
			if pos == Unplaced || int(pos) >= hi || int(pos)+rd.len(i) <= lo {
				continue
			}
			cover[max(int(pos)-lo, 0)]++
			cover[min(int(pos)+rd.len(i), hi)-lo]--
			if b.pl.miss[rec] == 0 {
				continue
			}
			read, m := rd.oriented(i, b.pl.reversed(rec), &rev, &mask)
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
			depth += cover[at-lo]
		}
		var n [4]int32
		against := int32(0)
		for ; i < len(votes) && int(votes[i]>>2) == p; i++ {
			n[votes[i]&3]++
			against++
		}
		best := 0
		for b := range n {
			if n[b] > n[best] {
				best = b
			}
		}
		if n[best] > depth-against {
			b.seq.set(p, byte(best))
		}
	}
	return nil
}

// oriented returns read i turned as the pseudogenome has it, and its skip mask (nil if none).
// inputReversed reports whether the read in input orientation is the reverse of the pseudogenome.
func (rd *Reads) oriented(i int, inputReversed bool, buf *[]byte, mask *[]uint64) (read []byte, m []uint64) {
	turn := inputReversed != (rd.place[i]&1 != 0)
	n := rd.len(i)
	read = rd.bases(i)
	if turn {
		*buf = slices.Grow((*buf)[:0], (n+3)/4+2*pad)[:(n+3)/4+2*pad]
		reverseInto(*buf, read, n)
		read = *buf
	}
	if rd.isOdd(i) {
		*mask = rd.skipMask(*mask, i, turn)
		m = *mask
	}
	return read, m
}

// forEachMismatch calls f for each of the n bases in which read differs from pg at pos, in order, with the read's base.
func forEachMismatch(pg []byte, pos int, read []byte, n int, skip []uint64, f func(j int, b byte)) {
	for i := 0; i*chunk < n; i++ {
		r := load(read, i*chunk)
		d := mismatchBits(load(pg, pos+i*chunk), r)
		if left := n - i*chunk; left < chunk {
			d &= firstBases(left)
		}
		if skip != nil {
			d &^= skip[i]
		}
		for ; d != 0; d &= d - 1 {
			k := bits.TrailingZeros64(d)
			f(i*chunk+k/2, byte(r>>uint(k)&3))
		}
	}
}

// compact drops the bases of the pseudogenome that no placed read covers and moves the placements along.
func (b *builder) compact(ctx context.Context) error {
	pl, n := b.pl, b.seq.n
	covered := newBitset(n)
	err := b.records.lengths(ctx, func(rec uint32, length int) {
		if pos := pl.pos[rec]; pos != Unplaced {
			covered.fill(int(pos), int(pos)+length)
		}
	})
	if err != nil {
		return err
	}
	covered.seal()
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
