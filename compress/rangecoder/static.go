package rangecoder

import "math/bits"

// What is coded here has probabilities that do not learn and bits that are hard to predict, so nothing branches on the bits.

// Steps codes the n low bits of v, the most significant first; n is at most 4. It returns them below a leading 1. p holds the probability
// of the next bit, in 1/65536, by what is returned of those before it.
func (c *Coder) Steps(n int, v uint32, p *[16]uint16) uint32 {
	if c.Dec != nil {
		return c.Dec.steps(n, p)
	}
	v = v&(1<<n-1) | 1<<n
	c.Enc.steps(n, v, p)
	return v
}

// steps writes the bits of v, below the leading 1 above n bits.
func (e *Encoder) steps(n int, v uint32, p *[16]uint16) {
	low, size := e.low, e.size
	for n--; n >= 0; n-- {
		split := size >> ProbBits * uint64(p[v>>(n+1)&15])
		rest, more := size-split, split
		if v>>n&1 != 0 { // conditional moves
			rest, more = split, 0
		}
		sum, carry := bits.Add64(low, more, 0)
		low, size = sum, rest
		if carry != 0 {
			carryInto(e.buf)
		}
		if size>>32 == 0 {
			e.low, e.size = low, size
			e.shift()
			low, size = e.low, e.size
		}
	}
	e.low, e.size = low, size
}

// steps returns n bits below a leading 1.
func (d *Decoder) steps(n int, p *[16]uint16) (k uint32) {
	code, size := d.code, d.size
	k = 1
	q := p[1]
	for range n {
		next, after := p[2*k&14], p[2*k&14|1] // read before it is known which of the two will be needed
		split := size >> ProbBits * uint64(q)
		rest, less, one := size-split, split, uint32(0)
		if code < split { // conditional moves
			rest, less, one, next = split, 0, 1, after
		}
		code, size = code-less, rest
		k, q = k<<1|one, next
		if size>>32 == 0 {
			size <<= 32
			code = code<<32 | d.next()
		}
	}
	d.code, d.size = code, size
	return k
}

// AnyBit is Bit without branches, which is faster for bits that are hard to predict.
func (c *Coder) AnyBit(bit int, p uint32) int {
	if c.Dec != nil {
		return int(c.Dec.decodeBranchless(p))
	}
	c.Enc.Encode(bit, p)
	return bit
}

// EncodePart narrows the interval to the part of it from start/65536 on that takes width/65536: a symbol of any alphabet in one step.
// start + width is at most 65536.
func (e *Encoder) EncodePart(start, width uint32) {
	unit := e.size >> ProbBits
	if e.low += unit * uint64(start); e.low < unit*uint64(start) {
		carryInto(e.buf)
	}
	if e.size = unit * uint64(width); e.size>>32 == 0 {
		e.shift()
	}
}

// Point returns which 65536th of the interval the stream goes on in. It is in the part that EncodePart wrote; DecodePart has to follow.
func (d *Decoder) Point() uint32 { return uint32(min(d.code/(d.size>>ProbBits), 1<<ProbBits-1)) }

// DecodePart narrows the interval as EncodePart does.
func (d *Decoder) DecodePart(start, width uint32) {
	unit := d.size >> ProbBits
	d.code -= unit * uint64(start)
	if d.size = unit * uint64(width); d.size>>32 == 0 {
		d.shift()
	}
}
