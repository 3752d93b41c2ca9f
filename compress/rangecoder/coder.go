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

// Uniform codes the n low bits of v, the most significant first, each as likely 0 as 1; 0 <= n <= 32.
func (c *Coder) Uniform(v uint32, n int) uint32 {
	if c.Dec != nil {
		return c.Dec.DecodeBits(n)
	}
	c.Enc.EncodeBits(v, n)
	return v & (1<<n - 1)
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
