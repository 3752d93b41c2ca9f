package fmindex

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// Window is how many bases of the pseudogenome a stretch has whose coverage is kept.
const Window = 64

// A sum of up to 2^42 bases is kept as 11 bits and how many bits of it were cut off.
const coverBits = 11

// coverCode returns what is kept of a sum of bases.
func coverCode(sum uint64) uint16 {
	shift := max(bits.Len64(sum)-coverBits, 0)
	if shift > 31 {
		return 1<<16 - 1
	}
	return uint16(shift<<coverBits) | uint16(sum>>shift)
}

// coverSum is the inverse of coverCode.
func coverSum(code uint16) uint64 { return uint64(code&(1<<coverBits-1)) << (code >> coverBits) }

// Coverage sums how many bases of reads lie over each window of the pseudogenome. Add is safe for concurrent use.
type Coverage struct {
	bases  int
	window int // bases
	sums   []atomic.Uint64
}

// NewCoverage returns the coverage of a pseudogenome of so many bases by no read, in windows of so many bases, 1 or more. The last one may
// be shorter. An index has windows of Window bases.
func NewCoverage(bases, window int) *Coverage {
	return &Coverage{bases, window, make([]atomic.Uint64, (bases+window-1)/window)}
}

// Depths returns how many reads lie over a base of each window on average.
func (c *Coverage) Depths() []float64 {
	depths := make([]float64, len(c.sums))
	for k := range depths {
		depths[k] = float64(c.sums[k].Load()) / float64(min(c.window, c.bases-k*c.window))
	}
	return depths
}

// Add adds a read over the bases from..to-1.
func (c *Coverage) Add(from, to int) {
	to = min(to, c.bases)
	for from < to {
		n := min(c.window-from%c.window, to-from)
		c.sums[from/c.window].Add(uint64(n))
		from += n
	}
}

// Depth returns how many reads lie over a base from..to-1 of the text, on average over the stretches of the pseudogenome that
// these bases touch. It is 1 for literals, each of which is of one read.
func (x *Index) Depth(from, to int) float64 {
	if from >= int(x.genome) {
		return 1
	}
	to = min(to, int(x.genome))
	sum, bases := uint64(0), 0
	for k := from / Window; k*Window < to; k++ {
		sum += coverSum(binary.LittleEndian.Uint16(x.coverage[2*k:]))
		bases += min(Window, int(x.genome)-k*Window)
	}
	return float64(sum) / float64(max(bases, 1))
}
