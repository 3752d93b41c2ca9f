package minimizer

import (
	"encoding/binary"
	"math/bits"
)

// Gap is a run of letters of a read that are no bases.
type Gap struct{ Start, End int } // End is exclusive

// Pad is how many bytes after its packed bases a read given to FindPacked must own.
const Pad = 8

// Find returns the signature of a read: what Reference returns for K and Skip, in one pass
// over the bases for both strands.
func Find(read []byte) (sig, pos uint32, reverse bool) {
	var few [64 + Pad]byte
	var fewGaps [4]Gap
	packed, gaps := few[:], fewGaps[:0]
	if n := (len(read)+3)/4 + Pad; n > len(packed) {
		packed = make([]byte, n)
	}
	for i, c := range read {
		x := code[c]
		if x > 3 {
			if g := len(gaps); g > 0 && gaps[g-1].End == i {
				gaps[g-1].End++
			} else {
				gaps = append(gaps, Gap{i, i + 1})
			}
			continue
		}
		packed[i>>2] |= x << (i & 3 * 2)
	}
	return FindPacked(packed, len(read), gaps)
}

// FindPacked is Find for a read of n bases of 2 bits each, base j in bits 2*(j%4) of byte
// j/4; packed holds at least Pad bytes after the last base, of any content. What is packed
// at the gaps (ascending, apart from one another) does not matter.
func FindPacked(packed []byte, n int, gaps []Gap) (sig, pos uint32, reverse bool) {
	b := best{fwd: None, rev: None}
	start := 0
	for _, g := range gaps {
		b.scan(packed, start, g.Start, n)
		start = g.End
	}
	b.scan(packed, start, n, n)
	switch {
	case b.fwd == None && b.rev == None:
		return None, 0, false
	case b.fwd <= b.rev:
		return b.fwd, uint32(b.fwdAt), false
	}
	return b.rev, uint32(n - K - b.revAt), true
}

// best holds the smallest k-mers seen and where they start in the read's own orientation.
// Of equal ones the leftmost in the stored orientation is wanted: the first of the forward
// strand and the last of the reverse one.
type best struct {
	fwd, rev     uint32
	fwdAt, revAt int
}

// scan looks at the k-mers inside bases start..end-1, which are all A, C, G or T.
func (b *best) scan(packed []byte, start, end, n int) {
	fwdEnd := min(end, n-Skip) - K + 1 // k-mers start before this on the forward strand
	revEnd := end - K + 1
	revStart := max(start, Skip)
	fwd, rev := b.fwd, b.rev
	// A load of 64 bits holds 32 bases, so 24 k-mers can start in its first six bytes.
	const step = 24
	for at := start &^ 3; at < revEnd; at += step {
		w := binary.LittleEndian.Uint64(packed[at>>2:])
		// The packed order has the last base on top: complemented, that is a k-mer of the
		// reverse strand. Base by base reversed, it is a k-mer of the forward strand.
		lo, hi := max(start-at, 0), min(fwdEnd-at, step)
		f := ReverseBases(w)
		for j := lo; j < hi; j++ {
			if v := uint32(f>>(48-2*uint(j))) & (None - 1); v < fwd && admissible[v] {
				fwd, b.fwdAt = v, at+j
			}
		}
		c := ^w
		lo, hi = max(revStart-at, 0), min(revEnd-at, step)
		for j := lo; j < hi; j++ {
			if v := uint32(c>>(2*uint(j))) & (None - 1); v <= rev && admissible[v] {
				rev, b.revAt = v, at+j
			}
		}
	}
	b.fwd, b.rev = fwd, rev
}

// ReverseBases reverses the order of the 32 packed bases of a word.
func ReverseBases(w uint64) uint64 {
	w = bits.ReverseBytes64(w)
	w = w>>4&0x0f0f0f0f0f0f0f0f | w&0x0f0f0f0f0f0f0f0f<<4
	return w>>2&0x3333333333333333 | w&0x3333333333333333<<2
}
