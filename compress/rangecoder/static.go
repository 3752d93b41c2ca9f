package rangecoder

import "math/bits"

// What is coded here has probabilities that do not learn and bits that are hard to predict, so nothing branches on the bits.

// Sixteen codes k, which is below 16 and a multiple of step, a power of two. p holds where the part of each number below 16 begins, in
// 1/65536, in order and from 0 on; none is empty. k takes the parts of `step` numbers from k on.
func (c *Coder) Sixteen(k, step uint32, p *[16]uint16) uint32 {
	if c.Dec != nil {
		return c.Dec.sixteen(step, p)
	}
	start := p[k&15]
	c.Enc.EncodePart(uint32(start), uint32(p[(k+step)&15]-start)) // the last part ends at p[0], modulo 65536
	return k
}

// sixteen is Sixteen for decoding. It finds which four parts the stream goes on in, then which of these.
func (d *Decoder) sixteen(step uint32, p *[16]uint16) uint32 {
	code, unit := d.code, d.size>>ProbBits
	_, a := bits.Sub64(code, unit*uint64(p[4]), 0) // 1 if that is too late
	_, b := bits.Sub64(code, unit*uint64(p[8]), 0)
	_, c := bits.Sub64(code, unit*uint64(p[12]), 0)
	k := 12 - 4*(a+b+c)
	_, a = bits.Sub64(code, unit*uint64(p[(k+1)&15]), 0)
	_, b = bits.Sub64(code, unit*uint64(p[(k+2)&15]), 0)
	_, c = bits.Sub64(code, unit*uint64(p[(k+3)&15]), 0)
	k = (k + 3 - a - b - c) &^ uint64(step-1)
	start := p[k&15]
	d.code = code - unit*uint64(start)
	if d.size = unit * uint64(p[(k+uint64(step))&15]-start); d.size>>32 == 0 {
		d.shift()
	}
	return uint32(k)
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
