package rangecoder

import "math/bits"

// Prob is an adaptive probability that a bit is 1: 22 bits of probability above a 10-bit count of its updates. It moves fast at
// first and slower the more often it was updated. Start from NewProb; the zero value is not valid.
type Prob uint32

// NewProb is a Prob of 1/2 that was not updated yet.
const NewProb Prob = 1 << 31

const (
	probShift = 10 // below the probability
	countMask = 1<<probShift - 1
	probOne   = 1<<22 - 1
)

// MaxCount is the largest limit of a Prob's count.
const MaxCount = countMask

// P returns the probability in 1/65536, rounded down; it may be 0.
func (p Prob) P() uint32 { return uint32(p) >> 16 }

// coded returns the probability with which a bit is coded: at least floor, and at most 65536-floor.
func coded(p uint32) uint32 { return min(max(p, floor), 1<<ProbBits-floor) }

// Count returns how often p was updated, at most the limit that the updates were given.
func (p Prob) Count() uint32 { return uint32(p) & countMask }

// floor is the smallest probability that is coded, in 1/65536.
const floor = 8

// rates are the parts of the distance that a Prob moves, in 1/65536, by its count n: 1/(n + 1.5).
var rates = func() (r [MaxCount + 1]uint32) {
	for n := range r {
		r[n] = 2 * 65536 / (2*uint32(n) + 3)
	}
	return
}()

// Update moves p towards bit, at the rate that belongs to its count, and counts the update while the count is below limit,
// which is at most MaxCount.
func (p *Prob) Update(bit int, limit uint32) {
	n := uint32(*p) & countMask
	x := int64(*p >> probShift)
	x += (int64(-bit&probOne) - x) * int64(rates[n]) >> 16
	if n < limit {
		n++
	}
	*p = Prob(uint32(x)<<probShift | n)
}

// NewProbs returns n fresh Probs.
func NewProbs(n int) []Prob {
	p := make([]Prob, n)
	FillProbs(p)
	return p
}

// FillProbs makes all of p fresh. It is called for models that no other goroutine has yet, so the race detector does not look at each
// write: in tests of small inputs that was much of its time.
//
//go:norace
func FillProbs(p []Prob) {
	for i := range p {
		p[i] = NewProb
	}
}

// Tree is an adaptive model of symbols of a fixed number of bits: a binary tree with a Prob at each node.
type Tree struct {
	bits int
	node []Prob
}

// NewTree returns a model of symbols 0 .. 2^bits-1; 1 <= bits <= 16.
func NewTree(bits int) Tree { return Tree{bits, NewProbs(1 << bits)} }

// Code codes symbol v; the count of each Prob is bounded by limit.
func (t *Tree) Code(c *Coder, v uint32, limit uint32) uint32 {
	if c.Dec != nil {
		return t.decode(c.Dec, limit)
	}
	t.encode(c.Enc, v, limit)
	return v & (1<<t.bits - 1)
}

// encode is Code for encoding: Coder.Adapt for each bit, with the state of the encoder in registers.
func (t *Tree) encode(e *Encoder, v uint32, limit uint32) {
	node, n := t.node, uint32(1)
	low, size := e.low, e.size
	v <<= (32 - t.bits) & 31 // the next bit is the highest
	for ; int(n) < len(node); v <<= 1 {
		bit := v >> 31
		p := &node[n]
		split := size >> ProbBits * uint64(coded(p.P()))
		p.Update(int(bit), limit)
		rest, more := size-split, split
		if bit != 0 { // conditional moves
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
		n = n<<1 | bit
	}
	e.low, e.size = low, size
}

// decode is Code for decoding. It does not branch on the bits.
func (t *Tree) decode(d *Decoder, limit uint32) uint32 {
	node, n := t.node, uint32(1)
	code, size := d.code, d.size
	for int(n) < len(node) {
		p := &node[n]
		split := size >> ProbBits * uint64(coded(p.P()))
		rest, less, one := size-split, split, uint32(0)
		if code < split { // conditional moves
			rest, less, one = split, 0, 1
		}
		code, size = code-less, rest
		if size>>32 == 0 {
			size <<= 32
			code = code<<32 | d.next()
		}
		p.Update(int(one), limit)
		n = n<<1 | one
	}
	d.code, d.size = code, size
	return n - 1<<t.bits
}

// Number is an adaptive model of numbers up to 2^32-1. The bit length is a symbol of a Tree. The four bits below the leading one
// have Probs, chosen by the length and the bits above; the bits below these are coded as equally likely.
type Number struct {
	length Tree
	lead   [33][16]Prob
}

// NewNumber returns a fresh model.
func NewNumber() *Number {
	m := &Number{length: NewTree(6)}
	for i := range m.lead {
		FillProbs(m.lead[i][:])
	}
	return m
}

// Code codes v; the count of each Prob is bounded by limit.
func (m *Number) Code(c *Coder, v uint32, limit uint32) uint32 {
	n := int(m.length.Code(c, uint32(bits.Len32(v)), limit))
	if n == 0 {
		return 0
	}
	n = min(n, 32) // only a corrupt stream has more
	x, ctx := uint32(1), 1
	for i := n - 2; i >= 0; i-- {
		if ctx >= 16 {
			return x<<(i+1) | c.Uniform(v&(1<<(i+1)-1), i+1)
		}
		b := c.AdaptAny(int(v>>i&1), &m.lead[n][ctx], limit)
		ctx = ctx<<1 | b
		x = x<<1 | uint32(b)
	}
	return x
}
