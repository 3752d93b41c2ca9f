package overlap

import "math/bits"

// bitset is a set of numbers that knows how many of its members come before one.
type bitset struct {
	words  []uint64
	before []uint32 // members before each word; see seal
}

func newBitset(n int) bitset { return bitset{words: make([]uint64, n/64+1)} }

func (s *bitset) has(i uint32) bool { return s.words[i>>6]>>(i&63)&1 != 0 }

// fill adds from..to-1.
func (s *bitset) fill(from, to int) {
	for p := from; p < to; {
		m := min(to-p, 64-p&63)
		s.words[p>>6] |= (1<<m - 1) << (p & 63) // m = 64: all ones
		p += m
	}
}

// seal prepares for rank and returns the number of members.
func (s *bitset) seal() int {
	s.before = make([]uint32, len(s.words))
	sum := 0
	for i, w := range s.words {
		s.before[i] = uint32(sum)
		sum += bits.OnesCount64(w)
	}
	return sum
}

// rank returns how many members are less than i.
func (s *bitset) rank(i uint32) int {
	return int(s.before[i>>6]) + bits.OnesCount64(s.words[i>>6]&(1<<(i&63)-1))
}

// Subset is a set of records.
type Subset struct{ bitset }

// NewSubset returns an empty set of records below n.
func NewSubset(n uint64) *Subset { return &Subset{newBitset(int(n))} }

// Add adds a record.
func (s *Subset) Add(record uint32) { s.words[record>>6] |= 1 << (record & 63) }

// Has reports whether a record is in the set.
func (s *Subset) Has(record uint32) bool { return s.has(record) }
