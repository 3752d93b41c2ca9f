package quals

import (
	"math/bits"
	"sync"

	"orcomgo/compress/rangecoder"
)

// A state is an adaptive probability in 16 bits: its lower 12 are the stretched
// probability that the decision is 1, ln(p/(1-p)) in 1/256 plus 2048; its upper 4 are an
// age. The older a state, the less one more decision moves it. A table gives the next
// state, so that learning costs one look-up. Rounding and ageing are drawn from the state
// itself: without chance, but right on average.
type state = uint16

const (
	stateLevels = 1 << 12
	stateAges   = 1 << 4
	stateStart  = stateLevels / 2
)

// moves holds the next state by bit and state.
type moves [2][stateLevels * stateAges]state

// rest is one over the share of the distance that a state moves, by age. It moves on to
// the next age with one chance in rest[age+1] - rest[age], drawn from its level.
var rest = [stateAges + 1]uint64{2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48, 64, 90, 128, 180, 256, 256}

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
		above, below := 0, 0 // levels not above the goals
		for level := range stateLevels {
			next := age
			if stay := rest[age+1] - rest[age]; stay > 0 {
				if uint64(level)*40503>>3%stay == 0 || level < 2 || level >= stateLevels-2 {
					next++
				}
			}
			goal := p[level] + (1<<32-p[level])/rest[age]
			for above < stateLevels-2 && p[above+1] <= goal {
				above++
			}
			to := min(max(above+round(share(p[above], p[above+1], goal), 2*level+1), level+1), stateLevels-1)
			m[1][age<<12|level] = state(next<<12 | to)

			goal = p[level] - p[level]/rest[age]
			for below < stateLevels-2 && p[below+1] <= goal {
				below++
			}
			to = max(min(below+round(share(p[below], p[below+1], goal), 2*level), level-1), 1)
			m[0][age<<12|level] = state(next<<12 | to)
		}
	}
	return m
})

// share returns how far x lies from lo on the way to hi, in 1/65536, at most 1.
func share(lo, hi, x uint64) uint64 {
	if x <= lo {
		return 0
	}
	return min((x-lo)<<16/(hi-lo), 1<<16)
}

// round returns 0 or 1, share/65536 of the time 1, drawn from i.
func round(share uint64, i int) int {
	if uint32(i)*0x9E3779B1>>16 < uint32(share) {
		return 1
	}
	return 0
}

// squashOf is rangecoder's table, held off certainty, where hot loops reach it without a call.
var squashOf = func() (t [4096]uint16) {
	for i := range t {
		t[i] = uint16(min(max(rangecoder.Squash(int32(i)-2048), 24), 65536-24))
	}
	return t
}()

// newSlots returns n fresh states, and some behind for the window of a damaged stream.
func newSlots(n int) []state {
	s := make([]state, n+256)
	for i := range s {
		s[i] = stateStart
	}
	return s
}

// slotBits is log2 of the states of a model: more would help, but not stay in the cache.
const slotBits = 19

// contextsFor returns log2 of the contexts of 2^node decisions to keep for a column of
// total symbols: no more than it can fill.
func contextsFor(total int, node uint) uint {
	return min(slotBits-min(node, 6), 15, uint(bits.Len(uint(total)))+1)
}

const hashFactor = 0x9E3779B97F4A7C15
