package seqs

import (
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

// coder codes in either direction, so that a model is written once: encoding, the value
// passed in is written and returned; decoding, the value passed in is ignored.
type coder struct {
	e *rc.Encoder
	d *rc.Decoder
}

func encodeTo(buf []byte) *coder { return &coder{e: rc.NewEncoder(buf)} }
func decodeFrom(b []byte) *coder { return &coder{d: rc.NewDecoder(b)} }

func (c *coder) bit(bit int, p uint32) int {
	if c.d != nil {
		return c.d.Decode(p)
	}
	c.e.Encode(bit, p)
	return bit
}

// even codes the n low bits of v as equally likely; n <= 32.
func (c *coder) even(v uint32, n int) uint32 {
	if c.d != nil {
		return c.d.DecodeBits(n)
	}
	c.e.EncodeBits(v, n)
	return v & (1<<n - 1)
}

// prob is an adaptive probability of a 1 that learns fast at first: 22 bits of
// probability above 10 bits of how often it was updated.
type prob uint32

const newProb prob = 1 << 31

// reciprocals[n] is 65536/(n+1.6), the share by which a prob seen n times moves.
var reciprocals = func() (t [1024]uint32) {
	for n := range t {
		t[n] = uint32(655360 / (10*n + 16))
	}
	return
}()

// adapt codes bit under p, whose memory is at most limit updates (1..1023).
func (c *coder) adapt(bit int, p *prob, limit uint32) int {
	v := uint32(*p)
	q := v >> 16
	if q < 12 {
		q = 12
	} else if q > 65536-12 {
		q = 65536 - 12
	}
	bit = c.bit(bit, q)
	p.learn(bit, limit)
	return bit
}

// learn moves p towards bit.
func (p *prob) learn(bit int, limit uint32) {
	n := uint32(*p) & 1023
	x := int64(*p >> 10)
	x += (int64(-bit&(1<<22-1)) - x) * int64(reciprocals[n]) >> 16
	if n < limit {
		n++
	}
	*p = prob(uint32(x)<<10 | n)
}

// tree models symbols of a fixed number of bits.
type tree struct {
	bits int
	node []prob
}

func newTree(bits int) tree {
	t := tree{bits, make([]prob, 1<<bits)}
	for i := range t.node {
		t.node[i] = newProb
	}
	return t
}

func (t *tree) code(c *coder, v uint32, limit uint32) uint32 {
	n := uint32(1)
	for i := t.bits - 1; i >= 0; i-- {
		n = n<<1 | uint32(c.adapt(int(v>>i&1), &t.node[n], limit))
	}
	return n - 1<<t.bits
}

// number models numbers up to 2^32-1: the bit length as a symbol, then the four bits
// below the leading one by what stands before them, then the rest evenly.
type number struct {
	length tree
	lead   [33][16]prob
}

func newNumber() *number {
	m := &number{length: newTree(6)}
	for i := range m.lead {
		for j := range m.lead[i] {
			m.lead[i][j] = newProb
		}
	}
	return m
}

func (m *number) code(c *coder, v uint32, limit uint32) uint32 {
	n := int(m.length.code(c, uint32(bits.Len32(v)), limit))
	if n == 0 {
		return 0
	}
	n = min(n, 32) // more is only found in a corrupt stream
	x, ctx := uint32(1), 1
	for i := n - 2; i >= 0; i-- {
		if ctx >= 16 {
			return x<<(i+1) | c.even(v&(1<<(i+1)-1), i+1)
		}
		b := c.adapt(int(v>>i&1), &m.lead[n][ctx], limit)
		ctx = ctx<<1 | b
		x = x<<1 | uint32(b)
	}
	return x
}
