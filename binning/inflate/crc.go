package inflate

import "hash/crc32"

// CRC-32 of a text from those of its parts: of a text that n bytes follow it is multiplied
// by x^8n, modulo the polynomial. Polynomials are written as the CRC is, with the
// coefficient of x^0 in the highest bit.

// powers are x^(2^k).
var powers [32]uint32

func init() {
	p := uint32(1 << 30)
	for k := range powers {
		powers[k] = p
		p = multiply(p, p)
	}
}

func multiply(a, b uint32) uint32 {
	product := uint32(0)
	for m := uint32(1 << 31); m != 0; m >>= 1 {
		if a&m != 0 {
			product ^= b
		}
		b = b>>1 ^ crc32.IEEE&-(b&1)
	}
	return product
}

// combineCRC returns the CRC-32 of a text and one of n bytes behind it.
func combineCRC(first, second uint32, n int) uint32 {
	shift := uint32(1 << 31)
	for k := 3; n > 0; n, k = n>>1, k+1 {
		if n&1 != 0 {
			shift = multiply(shift, powers[k&31])
		}
	}
	return multiply(shift, first) ^ second
}
