package fmindex

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// coverBases is how many bases of the pseudogenome a stretch has whose coverage is kept.
const coverBases = 64

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

// Coverage sums how many bases of reads lie over each stretch of the pseudogenome. Add is safe for concurrent use.
type Coverage struct {
	bases int
	sums  []atomic.Uint64
}

// NewCoverage returns the coverage of a pseudogenome of so many bases by no read.
func NewCoverage(bases int) *Coverage {
	return &Coverage{bases, make([]atomic.Uint64, (bases+coverBases-1)/coverBases)}
}

// Add adds a read over the bases from..to-1.
func (c *Coverage) Add(from, to int) {
	to = min(to, c.bases)
	for from < to {
		n := min(coverBases-from%coverBases, to-from)
		c.sums[from/coverBases].Add(uint64(n))
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
	for k := from / coverBases; k*coverBases < to; k++ {
		sum += coverSum(binary.LittleEndian.Uint16(x.coverage[2*k:]))
		bases += min(coverBases, int(x.genome)-k*coverBases)
	}
	return float64(sum) / float64(max(bases, 1))
}
