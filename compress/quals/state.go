package quals

import (
	"math/bits"
	"sync"
)

// A state is an adaptive probability in 16 bits, smaller and faster than a rangecoder.Prob: its lower 12 bits are the stretched
// probability that the decision is 1, ln(p/(1-p)) in 1/256 plus 2048; its upper 4 bits are an
// age. The older a state is, the less a decision moves it. A table gives the next
// state, so that learning costs one look-up. Rounding and ageing are decided by a hash of the state: they are deterministic, and
// unbiased on average.
type state = uint16

const (
	stateLevels = 1 << 12
	stateAges   = 1 << 4
	stateStart  = stateLevels / 2
)

// moves holds the next state by bit and state.
type moves [2][stateLevels * stateAges]state

// invRate is the inverse of the part of the distance that a state moves, by age. A state proceeds to
// the next age with probability 1/(invRate[age+1] - invRate[age]), decided by its level.
var invRate = [stateAges + 1]uint64{2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48, 64, 90, 128, 180, 256, 256}

var newMoves = sync.OnceValue(func() *moves {
	// Probabilities of the levels, 2^32 being 1: e^(-1/256) is raised step by step.
	const one = uint64(1) << 62
	const factor = uint64(4593706758521714574) // e^(-1/256) * 2^62
	var p [stateLevels]uint64
	for x, t := 0, one; x < stateLevels/2; x++ {
		q := one / ((one + t) >> 32)
		p[stateLevels/2+x] = q
		if x > 0 {
			p[stateLevels/2-x] = 1<<32 - q
		}
		hi, lo := bits.Mul64(t, factor)
		t = hi<<2 | lo>>62
	}
	p[0] = p[1] - (p[2] - p[1])
	m := new(moves)
	for age := range stateAges {
		above, below := 0, 0 // the highest levels that are not above the targets of a 1 and a 0
		for level := range stateLevels {
			next := age
			if stay := invRate[age+1] - invRate[age]; stay > 0 {
				if uint64(level)*40503>>3%stay == 0 || level < 2 || level >= stateLevels-2 {
					next++
				}
			}
			target := p[level] + (1<<32-p[level])/invRate[age]
			for above < stateLevels-2 && p[above+1] <= target {
				above++
			}
			to := min(max(above+round(share(p[above], p[above+1], target), 2*level+1), level+1), stateLevels-1)
			m[1][age<<12|level] = state(next<<12 | to)

			target = p[level] - p[level]/invRate[age]
			for below < stateLevels-2 && p[below+1] <= target {
				below++
			}
			to = max(min(below+round(share(p[below], p[below+1], target), 2*level), level-1), 1)
			m[0][age<<12|level] = state(next<<12 | to)
		}
	}
	return m
})

// share returns (x-lo)/(hi-lo) in 1/65536, clamped to 0..1.
func share(lo, hi, x uint64) uint64 {
	if x <= lo {
		return 0
	}
	return min((x-lo)<<16/(hi-lo), 1<<16)
}

// round returns 1 for a part of share/65536 of all i, else 0, by a hash of i.
func round(share uint64, i int) int {
	if uint32(i)*0x9E3779B1>>16 < uint32(share) {
		return 1
	}
	return 0
}

// slotPad is how many slots follow the last context: a damaged stream may reach nodes that its tree does not have.
const slotPad = 256

// newSlots returns n fresh states and slotPad more. No other goroutine has them yet, so the race detector does not look at each write.
//
//go:norace
func newSlots(n int) []state {
	s := make([]state, n+slotPad)
	for i := range s {
		s[i] = stateStart
	}
	return s
}

// freshSlots is newSlots in the memory of s if that is enough.
func freshSlots(s []state, n int) []state {
	if cap(s) < n+slotPad {
		return newSlots(n)
	}
	s = s[:n+slotPad]
	for i := range s {
		s[i] = stateStart
	}
	return s
}

// slotBits is log2 of the states of a model: more would compress better, but exceed the cache.
const slotBits = 19

// contextsFor returns log2 of the contexts of 2^node decisions to keep for a column of
// total symbols: not many more than it can have.
func contextsFor(total int, node uint) uint {
	return min(slotBits-min(node, 6), 15, uint(bits.Len(uint(total)))+1)
}

const hashFactor = 0x9E3779B97F4A7C15
