package rangecoder

import "math/bits"

// What is coded here has probabilities that do not learn and bits that are hard to predict, so nothing branches on the bits.

// EncodeEach writes the len(p) low bits of v, the most significant first. p holds the probability of each in 1/65536.
func (e *Encoder) EncodeEach(v uint32, p []uint16) {
	low, high := e.low, e.high
	for i, q := range p {
		one := -uint64(v >> ((len(p) - 1 - i) & 31) & 1)
		mid := low + (high-low)>>ProbBits*uint64(q)
		high ^= (high ^ mid) & one
		low ^= (low ^ (mid + 1)) &^ one
		if (low^high)>>32 == 0 {
			e.low, e.high = low, high
			e.shift()
			low, high = e.low, e.high
		}
	}
	e.low, e.high = low, high
}

// DecodeSteps returns n bits below a leading 1, the most significant first; n is at most 4. p holds the probability of the next bit, in
// 1/65536, by what is returned of those before it, k: in the upper half of element k/2 if k is odd, else in its lower half.
func (d *Decoder) DecodeSteps(n int, p *[8]uint32) (k uint32) {
	low, high, x := d.low, d.high, d.x
	k = 1
	q := p[0] >> 16
	for range n {
		both := p[k&7] // read before it is known which of the two will be needed
		mid := low + (high-low)>>ProbBits*uint64(q)
		_, zero := bits.Sub64(mid, x, 0)
		one := zero - 1
		high ^= (high ^ mid) & one
		low ^= (low ^ (mid + 1)) &^ one
		q = both >> (one & 16) & 0xffff
		k = k<<1 | uint32(one&1)
		if (low^high)>>32 == 0 {
			d.low, d.high = low, high
			d.shift()
			low, high, x = d.low, d.high, d.x
		}
	}
	d.low, d.high = low, high
	return k
}

// AnyBit is Bit without branches, which is faster for bits that are hard to predict.
func (c *Coder) AnyBit(bit int, p uint32) int {
	if c.Dec != nil {
		return int(c.Dec.decodeBranchless(p))
	}
	c.Enc.encodeBranchless(uint64(bit), p)
	return bit
}
