package quals

import (
	"math/bits"

	"orcomgo/compress/rangecoder"
)

// levelOf returns how the frequency n is coded: as level 0 for none, else 1 + twice its logarithm to base 2, rounded down.
func levelOf(n uint64) uint32 {
	if n == 0 {
		return 0
	}
	e := bits.Len64(n) - 1
	half := uint32(0)
	if e > 0 {
		half = uint32(n>>(e-1)) & 1
	}
	return 1 + 2*uint32(e) + half
}

// maxLevel is the largest level that a stream may hold.
const maxLevel = 100

// frequencyOf returns about the frequency of a level, in halves.
func frequencyOf(level uint32) uint64 {
	if level == 0 {
		return 0
	}
	return (2 + uint64(level-1)&1) << ((level - 1) >> 1)
}

const (
	levelBits = 7 // of a coded level
	levelRate = 4 // log2 of the distance over the step of a levelProb
)

// levelProb is an adaptive probability of levels: that a bit is 1, in 1/65536. The format has another arithmetic here than that of
// rangecoder.Prob: the rate is fixed.
type levelProb uint16

// code codes a bit and updates the probability.
func (p *levelProb) code(c *rangecoder.Coder, bit int) int {
	bit = c.Bit(bit, min(max(uint32(*p), 16), 65536-16))
	if bit != 0 {
		*p += (65535 - *p) >> levelRate
	} else {
		*p -= *p >> levelRate
	}
	return bit
}

// levelModel codes the levels of rows of frequencies. Each is a symbol of a tree of probabilities, chosen by the levels to the left and
// above.
type levelModel [16][1 << levelBits]levelProb

func newLevelModel() *levelModel {
	m := new(levelModel)
	for i := range m {
		for j := range m[i] {
			m[i][j] = 1 << 15
		}
	}
	return m
}

// code codes levels, in rows of n. Decoding stops at a level above maxLevel, and code returns false.
func (m *levelModel) code(c *rangecoder.Coder, levels []uint32, n int) bool {
	for i, v := range levels {
		var left, up uint32
		if i%n > 0 {
			left = levels[i-1]
		}
		if i >= n {
			up = levels[i-n]
		}
		tree := &m[min(left, 3)<<2&12|min(up>>2, 3)]
		node := uint32(1)
		for b := levelBits - 1; b >= 0; b-- {
			node = node<<1 | uint32(tree[node].code(c, int(v>>b&1)))
		}
		if levels[i] = node - 1<<levelBits; levels[i] > maxLevel {
			return false
		}
	}
	return true
}
