package seqs

import (
	"encoding/binary"
	"math/bits"
	"runtime/debug"
	"sync"
)

// variants are the bases that reads of a slice had in place of those of the pseudogenome, by position in the range of the slice's reads,
// modulo a power of two.
type variants struct {
	at    []uint8  // see variantKnown; variantStep more than positions
	noted []uint32 // the indices in at that may not be 0, unless there are too many of them
}

// A variant is 0x80 | whether each of the last four reads over it had it, newest lowest, << 2 | the
// base on the pseudogenome's strand. 0 is none. A variant that the last four reads did not have is removed.
const (
	variantKnown = 0x80
	// At most this many low bits of a position are the index of its variant. Which positions share a variant depends on their distance
	// alone, so positions may be counted from any first one.
	variantBits = 26
	variantStep = 32 // positions that are searched for variants at once
)

// notedShare: the indices of variants are noted while they are at most one in so many. Clearing these alone takes less time than all.
const notedShare = 64

// freeVariants are empty ones, by the logarithm of how many positions they have. Those of a large pseudogenome take more time to allocate
// than a small slice takes to decode.
var freeVariants [variantBits + 1]sync.Pool

// newVariants returns empty variants at `size` positions, a power of two of at most variantBits. They are to be released.
func newVariants(size uint64) *variants {
	if v, ok := freeVariants[bits.TrailingZeros64(size)].Get().(*variants); ok {
		return v
	}
	return &variants{at: make([]uint8, size+variantStep)}
}

// waitingShare: variants wait for another use if they take at most one in so many bytes of what the process may take. Between two slices
// of little memory, other things are in their place.
const waitingShare = 16

// release empties the variants for another use.
func (v *variants) release() {
	size := len(v.at) - variantStep
	if int64(size) > debug.SetMemoryLimit(-1)/waitingShare {
		return
	}
	if len(v.noted) > size/notedShare {
		clear(v.at)
	} else {
		for _, x := range v.noted {
			v.at[x] = 0
		}
	}
	v.noted = v.noted[:0]
	freeVariants[bits.TrailingZeros(uint(size))].Put(v)
}

// of returns where the variant of a position is.
func (v *variants) of(pos uint64) *uint8 { return &v.at[pos&uint64(len(v.at)-variantStep-1)] }

// note makes b the variant at pos unless there is one.
func (v *variants) note(pos uint64, b byte) {
	size := len(v.at) - variantStep
	if pos &= uint64(size - 1); v.at[pos] == 0 {
		v.at[pos] = variantKnown | 1<<2 | b
		if len(v.noted) <= size/notedShare {
			v.noted = append(v.noted, uint32(pos))
		}
	}
}

// next returns the first position from p on that has a variant, or one that is not below end.
func (v *variants) next(p, end uint64) uint64 {
	size := uint64(len(v.at) - variantStep)
	for p < end {
		x := p & (size - 1)
		if x+variantStep > size { // at the end of variants
			if v.at[x] != 0 {
				return p
			}
			p++
			continue
		}
		s := v.at[x:][:variantStep]
		first, second := binary.LittleEndian.Uint64(s), binary.LittleEndian.Uint64(s[8:])
		third, fourth := binary.LittleEndian.Uint64(s[16:]), binary.LittleEndian.Uint64(s[24:])
		switch {
		case first|second|third|fourth == 0:
			p += variantStep
			continue
		case first != 0:
			return p + uint64(bits.TrailingZeros64(first)/8)
		case second != 0:
			return p + 8 + uint64(bits.TrailingZeros64(second)/8)
		case third != 0:
			return p + 16 + uint64(bits.TrailingZeros64(third)/8)
		}
		return p + 24 + uint64(bits.TrailingZeros64(fourth)/8)
	}
	return p
}
