package rangecoder

// Coder encodes or decodes, so that a model is written once for both. A method of Coder, or of a model that takes a Coder,
// encodes the value that it is given and returns it; when decoding it ignores the value that it is given and returns the
// decoded one.
type Coder struct {
	Enc *Encoder // nil when decoding
	Dec *Decoder // nil when encoding
}

// EncodeTo returns a Coder that appends a stream to buf (which may be nil).
func EncodeTo(buf []byte) *Coder { return &Coder{Enc: NewEncoder(buf)} }

// DecodeFrom returns a Coder that decodes the stream src.
func DecodeFrom(src []byte) *Coder { return &Coder{Dec: NewDecoder(src)} }

// Decoding reports whether the Coder decodes.
func (c *Coder) Decoding() bool { return c.Dec != nil }

// Bit codes a bit (0 or 1) that has probability p/65536 of being 1; 1 <= p <= 65535.
func (c *Coder) Bit(bit int, p uint32) int {
	if c.Dec != nil {
		return c.Dec.Decode(p)
	}
	c.Enc.Encode(bit, p)
	return bit
}

// Uniform codes the n low bits of v, each value of them as equally likely, 16 bits in a step; 0 <= n <= 32.
func (c *Coder) Uniform(v uint32, n int) (out uint32) {
	for n > 0 {
		k := min(n, 16)
		n -= k
		part := v >> n & (1<<k - 1)
		if c.Dec != nil {
			part = c.Dec.Point() >> (16 - k)
			c.Dec.DecodePart(part<<(16-k), 1<<(16-k))
		} else {
			c.Enc.EncodePart(part<<(16-k), 1<<(16-k))
		}
		out = out<<k | part
	}
	return out
}

// Adapt codes a bit with probability p, which learns it; the count of p is bounded by limit.
func (c *Coder) Adapt(bit int, p *Prob, limit uint32) int {
	bit = c.Bit(bit, coded(p.P()))
	p.Update(bit, limit)
	return bit
}

// AdaptAny is Adapt without branches on the bit, which is faster for bits that are hard to predict.
func (c *Coder) AdaptAny(bit int, p *Prob, limit uint32) int {
	bit = c.AnyBit(bit, coded(p.P()))
	p.Update(bit, limit)
	return bit
}

// BitOf returns 1 for true and 0 for false.
func BitOf(b bool) int {
	if b {
		return 1
	}
	return 0
}
