package overlap

import (
	"math/bits"
	"sync/atomic"
)

// Subset is a set of numbers, of records or of bases. After buildRanks, rank counts the members below a number.
type Subset struct {
	words []uint64
	ranks []uint32 // number of members before each word; set by buildRanks
}

// NewSubset returns an empty set for the numbers 0..n-1; n is at most 2^32-1.
func NewSubset(n int) Subset { return Subset{words: make([]uint64, n/64+1)} }

// Has reports whether a number is in the set.
func (s *Subset) Has(i uint32) bool { return s.words[i>>6]>>(i&63)&1 != 0 }

// Add adds a number, which is less than the n of NewSubset. Goroutines may add numbers at the same time.
func (s *Subset) Add(i uint32) { atomic.OrUint64(&s.words[i>>6], 1<<(i&63)) }

// addRange adds from..to-1. Goroutines may add ranges at the same time.
func (s *Subset) addRange(from, to int) {
	for p := from; p < to; {
		m := min(to-p, 64-p&63)
		w, add := &s.words[p>>6], (uint64(1)<<m-1)<<(p&63) // m = 64: all ones
		if atomic.LoadUint64(w)&add != add {               // rare if many ranges overlap
			atomic.OrUint64(w, add)
		}
		p += m
	}
}

// buildRanks prepares rank and returns the number of members.
func (s *Subset) buildRanks() int {
	s.ranks = make([]uint32, len(s.words))
	sum := 0
	for i, w := range s.words {
		s.ranks[i] = uint32(sum)
		sum += bits.OnesCount64(w)
	}
	return sum
}

// rank returns the number of members less than i.
func (s *Subset) rank(i uint32) int {
	return int(s.ranks[i>>6]) + bits.OnesCount64(s.words[i>>6]&(1<<(i&63)-1))
}
