package numbers

import (
	"math"
	"math/bits"
	"sync"
)

func (p *planner) has(i, r int) bool { return p.shapes[i].present(p.values, r) }

// differenceCost returns about how many bits a row of the sample costs if the differences to a prediction are coded.
func (p *planner) differenceCost(i int, predict func(r int) int64) float64 {
	sum, n := 0.0, 0
	for r := p.first; r < p.rough; r++ {
		if p.has(i, r) {
			sum += logOf(p.values[i][r] - predict(r))
			n++
		}
	}
	return sum / float64(max(n, 1))
}

// logOf returns about the bits that a difference takes.
func logOf(d int64) float64 {
	if d < 0 {
		d = -d
	}
	if d == 0 {
		return 0.3
	}
	return Log2(float64(d)) + 2
}

// logTable has the logarithms of 1 + i/1024, in 1/65536.
var logTable [1025]uint32

func init() {
	// The logarithm of x has the bits that say whether x, squared again and again, is 2 or more; x is kept in 1/2^31.
	for i := range logTable {
		x, l := uint64(i)<<21+1<<31, uint32(0)
		for bit := uint32(1 << 16); bit > 0 && x > 1<<31; bit >>= 1 {
			if x >= 1<<32 {
				l |= bit
				x >>= 1
			}
			x = x * x >> 31
		}
		logTable[i] = l
	}
}

// Log2 returns the binary logarithm of a positive number, with an error of at most 0.002. Unlike math.Log2 it is the same on every
// platform, so that encoders that compare costs come to the same decisions.
func Log2(x float64) float64 {
	b := math.Float64bits(x)
	return float64(int(b>>52&2047)-1023) + float64(logTable[b>>42&1023])/65536
}

// contextCounts are those of values and of their contexts, to be used again.
var contextCounts = sync.Pool{New: func() any { return new([2]Counts) }}

// contextCost returns about how many bits a row of the sample costs if each value is coded by how often it followed the values of
// the columns refs in the same row.
func (p *planner) contextCost(i int, refs []int) float64 {
	t := contextCounts.Get().(*[2]Counts)
	defer contextCounts.Put(t)
	pairs, totals := &t[0], &t[1]
	pairs.Reset(p.rough - p.first)
	totals.Reset(p.rough - p.first)
	sum, n := 0.0, 0
	novel := float64(bits.Len(uint(p.distinct[i]))) + 3
	for r := p.first; r < p.rough; r++ {
		if !p.has(i, r) {
			continue
		}
		h := uint64(7)
		for _, x := range refs {
			h = mix(h, uint64(p.values[x][r]))
		}
		count, total := pairs.Of(int64(mix(h, uint64(p.values[i][r])))), totals.Of(int64(h))
		if *count > 0 {
			sum += Log2((float64(*total) + 0.5) / float64(*count))
		} else {
			sum += novel + Log2(float64(*total)+1)/4
		}
		*count++
		*total++
		n++
	}
	return sum / float64(max(n, 1))
}

func (p *planner) likeCost(i int, key []int) float64 {
	rows, v := p.likes.get(key), p.values[i]
	return p.differenceCost(i, func(r int) int64 {
		if rows[r] >= 0 {
			return v[rows[r]]
		}
		return valueOr(v, r-1)
	})
}
