package overlap

import (
	"math/bits"
	"slices"
)

// coverage returns, for each of the n bases of a pseudogenome, by how much the number of reads over
// it differs from that over the base before.
func coverage(rd *Reads, pl *placements, n int) []int32 {
	c := make([]int32, n+1)
	for rec, pos := range pl.pos {
		if pos != Unplaced {
			c[pos]++
			c[int(pos)+rd.len(int(rd.index[rec]))]--
		}
	}
	return c
}

// vote makes each base of pg (one a byte) what most of the reads placed over it have.
func vote(rd *Reads, pl *placements, pg, packed []byte) {
	cover := coverage(rd, pl, len(pg))
	var votes []uint64 // position << 2 | base, for each mismatch
	var rev []byte
	var mask []uint64
	for rec, pos := range pl.pos {
		if pos == Unplaced {
			continue
		}
		i := int(rd.index[rec])
		read, m := rd.oriented(i, pl.reversed(uint32(rec)), &rev, &mask)
		forEachMismatch(packed, int(pos), read, rd.len(i), m, func(j int, b byte) {
			votes = append(votes, uint64(int(pos)+j)<<2|uint64(b))
		})
	}
	slices.Sort(votes)
	depth, at := int32(0), 0
	for i := 0; i < len(votes); {
		p := int(votes[i] >> 2)
		for ; at <= p; at++ {
			depth += cover[at]
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
			pg[p] = byte(best)
		}
	}
}

// oriented returns read i turned as the pseudogenome has it, and its skip mask (nil if none).
// inputReversed tells whether the read in input orientation is the reverse of the pseudogenome.
func (rd *Reads) oriented(i int, inputReversed bool, buf *[]byte, mask *[]uint64) (read []byte, m []uint64) {
	turn := inputReversed != (rd.place[i]&1 != 0)
	n := rd.len(i)
	read = rd.bases(i)
	if turn {
		*buf = slices.Grow((*buf)[:0], (n+3)/4+2*pad)[:(n+3)/4+2*pad]
		reverseInto(*buf, read, n)
		read = *buf
	}
	if rd.isOdd(rd.record[i]) {
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

// compact drops the bases of pg that no placed read covers and moves the placements along.
func compact(rd *Reads, pl *placements, pg []byte) []byte {
	cover := coverage(rd, pl, len(pg))
	to := make([]uint32, len(pg)+1)
	kept := pg[:0]
	depth := int32(0)
	for p := range pg {
		depth += cover[p]
		to[p] = uint32(len(kept))
		if depth > 0 {
			kept = append(kept, pg[p])
		}
	}
	for rec, pos := range pl.pos {
		if pos != Unplaced {
			pl.pos[rec] = to[pos]
		}
	}
	return kept
}
