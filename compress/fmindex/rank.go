package fmindex

import (
	"encoding/binary"
	"math/bits"
)

// The transform is kept in blocks of a cache line: the counts of A, C, G and T before the block, four bytes each, and the low and the high
// bits of its bases, 24 bytes each. The row of place 0 has no base before it and is left out of the blocks, so that row r > first is
// base r - 1 of them.
const (
	blockBases = 192
	blockBytes = 64
	lowAt      = 16
	highAt     = lowAt + blockBases/8
)

// block returns the block that has the base of a row, and which of its bases that is.
func (x *Index) block(row uint32) (b []byte, at uint32) {
	if row > x.first {
		row--
	}
	k := int(row / blockBases)
	return x.ranks[k*blockBytes:][:blockBytes:blockBytes], row % blockBases
}

// masks returns the bits of the first n bases of a block, by word of its bits; n <= blockBases.
func masks(n uint32) (m0, m1, m2 uint64) {
	return 1<<n - 1, 1<<(max(n, 64)-64) - 1, 1<<(max(n, 128)-128) - 1
}

// rank returns how many of the bases before a row are base c.
func (x *Index) rank(c uint32, row uint32) uint32 {
	b, n := x.block(row)
	m0, m1, m2 := masks(n)
	low, high := uint64(c&1)-1, uint64(c>>1&1)-1 // all bits are set where the bit of c is 0
	m0 &= (binary.LittleEndian.Uint64(b[lowAt:]) ^ low) & (binary.LittleEndian.Uint64(b[highAt:]) ^ high)
	m1 &= (binary.LittleEndian.Uint64(b[lowAt+8:]) ^ low) & (binary.LittleEndian.Uint64(b[highAt+8:]) ^ high)
	m2 &= (binary.LittleEndian.Uint64(b[lowAt+16:]) ^ low) & (binary.LittleEndian.Uint64(b[highAt+16:]) ^ high)
	return binary.LittleEndian.Uint32(b[4*c&12:]) + uint32(bits.OnesCount64(m0)+bits.OnesCount64(m1)+bits.OnesCount64(m2))
}

// ranks4 returns rank of all four bases.
func (x *Index) ranks4(row uint32) (r [4]uint32) {
	b, n := x.block(row)
	r = countBases(b, n)
	for c := range r {
		r[c] += binary.LittleEndian.Uint32(b[4*c:])
	}
	return r
}

// countBases returns how often each base is among the first n of a block; n <= blockBases.
func countBases(b []byte, n uint32) [4]uint32 {
	m0, m1, m2 := masks(n)
	both, low, high := 0, 0, 0
	for i, m := range [3]uint64{m0, m1, m2} {
		l, h := binary.LittleEndian.Uint64(b[lowAt+8*i:])&m, binary.LittleEndian.Uint64(b[highAt+8*i:])&m
		both += bits.OnesCount64(l & h)
		low += bits.OnesCount64(l)
		high += bits.OnesCount64(h)
	}
	return [4]uint32{n - uint32(low+high-both), uint32(low - both), uint32(high - both), uint32(both)}
}

// back returns the base before the suffix of a row, which is not x.first, and the row of the suffix that begins with it.
func (x *Index) back(row uint32) (base byte, previous uint32) {
	b, n := x.block(row)
	w, i := n>>6, n&63
	l := binary.LittleEndian.Uint64(b[lowAt+8*w:]) >> i & 1
	h := binary.LittleEndian.Uint64(b[highAt+8*w:]) >> i & 1
	c := uint32(l | h<<1)
	return byte(c), x.less[c] + x.rank(c, row)
}
