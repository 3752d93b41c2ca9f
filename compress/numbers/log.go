package numbers

import "math"

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
