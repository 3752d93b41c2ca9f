package minimizer

import (
	"encoding/binary"
	"math/bits"

	"orcomgo/bases"
)

// Gap is a run of letters of a read that are not A, C, G or T.
type Gap struct{ Start, End int } // End is exclusive

// Pad is how many bytes a read given to FindPacked must have after its packed bases.
const Pad = 32

// FindPacked returns the signature of a read in one pass over the bases for both strands. The read has n bases of 2 bits each, base j in
// bits 2*(j%4) of byte j/4; packed holds at least Pad bytes after the last base, of any content. What is packed
// at the gaps (ascending, apart from one another) does not matter.
func FindPacked(packed []byte, n int, gaps []Gap) (sig, pos uint32, reverse bool) {
	if n < K {
		return None, 0, false
	}
	return findPacked(packed, n, gaps)
}

// findPlain is FindPacked, of at least K bases, without vector instructions.
func findPlain(packed []byte, n int, gaps []Gap) (sig, pos uint32, reverse bool) {
	b := best{none, none}
	if b.runs(packed, n, gaps, true); b.fwd == none && b.rev == none {
		b.runs(packed, n, gaps, false)
	}
	return b.result(n)
}

// result returns the better one of both strands, for a read of n bases.
func (b *best) result(n int) (sig, pos uint32, reverse bool) {
	fwd, rev := uint32(b.fwd>>32), uint32(b.rev>>32)
	switch {
	case fwd == None && rev == None:
		return None, 0, false
	case fwd <= rev:
		return fwd, uint32(b.fwd), false
	}
	return rev, uint32(n-K) - ^uint32(b.rev), true
}

// best holds the smallest k-mer seen on each strand, in the upper half, and in the lower
// where it starts in the read's own orientation. Of equal ones the leftmost in the stored
// orientation is wanted, the first of the forward strand and the last of the reverse one:
// there the complement of the start is kept, so that the smaller number is the better one.
type best struct{ fwd, rev uint64 }

const none = None << 32

// runs scans the stretches between the gaps. With onlyAA it scans only k-mers that begin with
// AA: where either strand has an admissible one, no other can be the smallest.
func (b *best) runs(packed []byte, n int, gaps []Gap, onlyAA bool) {
	start := 0
	for _, g := range gaps {
		b.scan(packed, start, g.Start, n, onlyAA)
		start = g.End
	}
	b.scan(packed, start, n, n, onlyAA)
}

// A load of 64 bits holds 32 bases, so that 24 k-mers start in its first six bytes.
const step = 24

// The shifts of scan that find k-mers with a run of three equal bases are those of K = 8. These
// constants are negative, and do not compile, for another K.
const (
	_ = uint(K - 8)
	_ = uint(8 - K)
)

// scan compares the k-mers inside bases start..end-1, which are all A, C, G or T. For all
// k-mers that start in a word at once it first computes which ones are admissible.
func (b *best) scan(packed []byte, start, end, n int, onlyAA bool) {
	fwdEnd := min(end, n-Skip) - K + 1 // k-mers start before this on the forward strand
	revEnd := end - K + 1
	revStart := max(start, Skip)
	fwd, rev := b.fwd, b.rev
	for at := start &^ 3; at < revEnd; at += step {
		w := binary.LittleEndian.Uint64(packed[at>>2:])
		// Bases equal to the next one; runs of three; k-mers without such a run.
		x := w ^ w>>2
		equal := ^(x | x>>1) & bases.LowBits
		three := equal & (equal >> 2)
		two := three | three>>2
		good := ^(two | two>>4 | two>>8)
		f, r := good&between(start-at, fwdEnd-at), good&between(revStart-at, revEnd-at)
		if onlyAA {
			a := ^(w | w>>1) & bases.LowBits
			t := w & (w >> 1) & bases.LowBits
			f &= a & (a >> 2)
			r &= t >> (2*K - 4) & (t >> (2*K - 2))
		}
		// The packed order has the last base on top: complemented, that is a k-mer of the
		// reverse strand. Base by base reversed, it is a k-mer of the forward strand.
		v := bases.Reverse(w)
		for ; f != 0; f &= f - 1 {
			j := bits.TrailingZeros64(f)
			key := v>>(64-2*K-uint(j)&63)&(None-1)<<32 | uint64(uint32(at+j>>1))
			if key < fwd {
				fwd = key
			}
		}
		for v = ^w; r != 0; r &= r - 1 {
			j := bits.TrailingZeros64(r)
			key := v>>(uint(j)&63)&(None-1)<<32 | uint64(^uint32(at+j>>1))
			if key < rev {
				rev = key
			}
		}
	}
	b.fwd, b.rev = fwd, rev
}

// between returns the lower bits of those of bases lo..hi-1 that are among the first 24.
func between(lo, hi int) uint64 {
	lo, hi = max(lo, 0), min(hi, step)
	if lo >= hi {
		return 0
	}
	return bases.LowBits & (1<<(2*uint(hi)) - 1) &^ (1<<(2*uint(lo)) - 1)
}
