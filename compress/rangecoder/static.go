package rangecoder

// What is coded here has probabilities that do not learn and bits that are hard to predict, so nothing branches on the bits.

// EncodeEach writes the len(p) low bits of v, the most significant first. p holds the probability of each in 1/65536.
func (e *Encoder) EncodeEach(v uint32, p []uint16) {
	low, size := e.low, e.high-e.low
	for i, q := range p {
		below := size >> ProbBits * uint64(q)
		size -= below + 1
		more := below + 1
		if v>>((len(p)-1-i)&31)&1 != 0 { // conditional moves
			size, more = below, 0
		}
		low += more
		if (low^(low+size))>>32 == 0 {
			e.low, e.high = low, low+size
			e.shift()
			low, size = e.low, e.high-e.low
		}
	}
	e.low, e.high = low, low+size
}

// DecodeSteps returns n bits below a leading 1, the most significant first; n is at most 4. p holds the probability of the next bit, in
// 1/65536, by what is returned of those before it.
func (d *Decoder) DecodeSteps(n int, p *[16]uint16) (k uint32) {
	low, size, above := d.low, d.high-d.low, d.x-d.low
	k = 1
	q := p[1]
	for range n {
		next, after := p[2*k&14], p[2*k&14|1] // read before it is known which of the two will be needed
		below := size >> ProbBits * uint64(q)
		rest, more, one := size-below-1, below+1, uint32(0)
		if above <= below { // conditional moves
			rest, more, one, next = below, 0, 1, after
		}
		low, above, size = low+more, above-more, rest
		k, q = k<<1|one, next
		if (low^(low+size))>>32 == 0 {
			d.low, d.high = low, low+size
			d.shift()
			low, size, above = d.low, d.high-d.low, d.x-d.low
		}
	}
	d.low, d.high = low, low+size
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
