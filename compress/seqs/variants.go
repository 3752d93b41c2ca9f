package seqs

import (
	"math/bits"
	"slices"
	"sync"
)

// variants are the bases that reads of a slice had in place of those of the pseudogenome, by position in the range of the slice's reads,
// modulo a power of two. There are few in a small slice, so blocks of positions have memory from their first variant on.
type variants struct {
	some   []uint64       // a bit for each block, whether it has memory: so few that they stay in the cache
	number []uint32       // by block: where in blocks it is; anything if it has no memory
	blocks []variantsHere // of the blocks that have memory
}

// variantsHere are the variants of a block of positions.
type variantsHere struct {
	some     uint64             // a bit for each position, whether it has a variant
	variants [variantBlock]byte // see variantKnown; not 0 only where there is one
}

// variantBlock is how many positions a block has: the bits of a word.
const variantBlock = 64

// A variant is 0x80 | whether each of the last four reads over it had it, newest lowest, << 2 | the
// base on the pseudogenome's strand. 0 is none. A variant that the last four reads did not have is removed.
const (
	variantKnown = 0x80
	// At most this many low bits of a position are the index of its variant. Which positions share a variant depends on their distance
	// alone, so positions may be counted from any first one.
	variantBits = 26
)

// usedVariants are variants for the next slices: of a large genome they take some MB, few of which a slice writes.
var usedVariants = sync.Pool{New: func() any { return new(variants) }}

// newVariants returns empty variants at `size` positions, a power of two of at most variantBits. usedVariants may take them back.
func newVariants(size uint64) *variants {
	v, blocks := usedVariants.Get().(*variants), int(max(size, variantBlock)/variantBlock)
	v.some = slices.Grow(v.some[:0], blocks/64+1)[:blocks/64+1]
	clear(v.some)
	v.number = slices.Grow(v.number[:0], blocks)[:blocks]
	v.blocks = v.blocks[:0]
	return v
}

// block returns the number of the block of a position.
func (v *variants) block(pos uint64) uint32 {
	return uint32(pos&uint64(len(v.number)*variantBlock-1)) / variantBlock
}

// has reports whether block k has memory.
func (v *variants) has(k uint32) bool { return v.some[k>>6]>>(k&63)&1 != 0 }

// of returns the variant of a position of a block that has memory, 0 if there is none.
func (v *variants) of(pos uint64) byte {
	return v.blocks[v.number[v.block(pos)]].variants[pos%variantBlock]
}

// met notes whether a read has the variant at a position. If the last four had not, it is removed.
func (v *variants) met(pos uint64, has int) {
	b := &v.blocks[v.number[v.block(pos)]]
	x := &b.variants[pos%variantBlock]
	if outcomes := *x<<1&0x38 | byte(has)<<2; outcomes != 0 {
		*x = variantKnown | outcomes | *x&3
	} else {
		*x = 0
		b.some &^= 1 << (pos % variantBlock)
	}
}

// note makes b the variant at pos unless there is one.
func (v *variants) note(pos uint64, b byte) {
	k := v.block(pos)
	if !v.has(k) {
		v.some[k>>6] |= 1 << (k & 63)
		v.number[k] = uint32(len(v.blocks))
		v.blocks = append(v.blocks, variantsHere{})
	}
	x := &v.blocks[v.number[k]]
	if bit := uint64(1) << (pos % variantBlock); x.some&bit == 0 {
		x.some |= bit
		x.variants[pos%variantBlock] = variantKnown | 1<<2 | b
	}
}

// next returns the first position from p on that has a variant, or one that is not below end.
func (v *variants) next(p, end uint64) uint64 {
	for ; p < end; p = p&^(variantBlock-1) + variantBlock {
		if k := v.block(p); v.has(k) {
			if x := v.blocks[v.number[k]].some >> (p % variantBlock); x != 0 {
				return p + uint64(bits.TrailingZeros64(x))
			}
		}
	}
	return p
}
