package quals

import (
	"math/bits"

	"orcomgo/compress/rangecoder"
)

// Slots hold the probability that a decision is 1 in their upper 24 bits and in the lower 8
// how often they were used: they adapt by 1/(uses+2), later by 1/257.
const slotStart = 1 << 31

// step maps the uses of a slot to 2^17/(uses+2) and, in the lowest bit, whether to count on.
var step = func() (t [256]uint32) {
	for i := range t {
		t[i] = uint32(1<<16/(i+2)) << 1
		if i < 255 {
			t[i] |= 1
		}
	}
	return t
}()

// Tables of logistic mixing, where the hot loops reach them without a call.
var (
	stretchOf [4096]int16
	squashOf  [4096]uint16
)

func init() {
	for i := range stretchOf {
		stretchOf[i] = int16(rangecoder.Stretch(uint32(i) << 4))
		squashOf[i] = uint16(min(max(rangecoder.Squash(int32(i)-2048), 24), 65536-24))
	}
}

// slotBits is log2 of the slots of a model: more would help, but not stay in the cache.
const slotBits = 19

// newSlots returns the slots of a model with 2^ctx contexts of 2^node decisions each. The
// window of 256 slots that starts at any context lies inside.
func newSlots(ctx, node uint) []uint32 {
	s := make([]uint32, 1<<(ctx+node)+256)
	for i := range s {
		s[i] = slotStart
	}
	return s
}

// contextsFor returns log2 of the contexts of 2^node decisions to keep for a column of
// total symbols: no more than it can fill.
func contextsFor(total int, node uint) uint {
	return min(slotBits-min(node, 6), 15, uint(bits.Len(uint(total)))+1)
}

const hashFactor = 0x9E3779B97F4A7C15
