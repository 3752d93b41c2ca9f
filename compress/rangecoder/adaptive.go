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

// Count returns how often p was updated, at most the limit that the updates were given.
func (p Prob) Count() uint32 { return uint32(p) & countMask }

// Update moves p towards bit, at the rate that belongs to its count, and counts the update while the count is below limit,
// which is at most MaxCount.
func (p *Prob) Update(bit int, limit uint32, a *Adaptation) {
	n := uint32(*p) & countMask
	x := int64(*p >> probShift)
	x += (int64(-bit&probOne) - x) * int64(a.rate[n]) >> 16
	if n < limit {
		n++
	}
	*p = Prob(uint32(x)<<probShift | n)
}

// never returns a Prob that was updated by 0 so often, with this limit, that a further 0 does not change it.
func never(limit uint32) Prob { return Prob(limit) }

// Adaptation is how Probs learn. Each of the formats that use them (sequences, names, qualities) has parameters of its own.
type Adaptation struct {
	rate  [MaxCount + 1]uint32 // by count: the part of the distance that a Prob moves, in 1/65536
	floor uint32               // probabilities are coded as at least floor and at most 65536-floor
}

// NewAdaptation returns the adaptation that moves a Prob updated n times by 1/(n + tenths/10) of the distance and keeps
// the probabilities that are coded between floor and 65536-floor, in 1/65536. Both parameters are at least 1; tenths is at least 10.
func NewAdaptation(tenths, floor uint32) *Adaptation {
	a := &Adaptation{floor: floor}
	for n := range a.rate {
		a.rate[n] = 655360 / (10*uint32(n) + tenths)
	}
	return a
}

// Clamp returns p, in 1/65536, moved into the range of probabilities that are coded.
func (a *Adaptation) Clamp(p uint32) uint32 { return min(max(p, a.floor), 1<<ProbBits-a.floor) }

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
		return t.decode(c.Dec, limit, c.adaptation)
	}
	t.encode(c.Enc, v, limit, c.adaptation)
	return v & (1<<t.bits - 1)
}

// CodeAny is Code without branches on the bits when decoding, which is faster for symbols that are hard to predict.
func (t *Tree) CodeAny(c *Coder, v uint32, limit uint32) uint32 {
	if c.Dec != nil {
		return t.decodeAny(c.Dec, limit, c.adaptation)
	}
	t.encode(c.Enc, v, limit, c.adaptation)
	return v & (1<<t.bits - 1)
}

// encode is Code for encoding: Coder.Adapt for each bit, with the state of the encoder in registers.
func (t *Tree) encode(e *Encoder, v uint32, limit uint32, a *Adaptation) {
	node, n := t.node, uint32(1)
	v &= 1<<t.bits - 1
	// The zeros at nodes that these don't change, unless bits are to be shifted out.
	low, high, floor := e.low, e.high, uint64(a.floor)
	for i := t.bits - bits.Len32(v); i > 0 && int(n) < len(node) && node[n] == never(limit); i-- {
		next := low + (high-low)>>ProbBits*floor + 1
		if (next^high)>>32 == 0 {
			break
		}
		low = next
		n <<= 1
	}
	v |= 1 << t.bits
	v <<= 32 - bits.Len32(v) + bits.Len32(n) // the next bit is the highest
	size := high - low
	for ; int(n) < len(node); v <<= 1 {
		bit := v >> 31
		p := &node[n]
		below := size >> ProbBits * uint64(a.Clamp(p.P()))
		p.Update(int(bit), limit, a)
		size -= below + 1
		more := below + 1
		if bit != 0 { // conditional moves
			size, more = below, 0
		}
		low += more
		if (low^(low+size))>>32 == 0 {
			e.low, e.high = low, low+size
			e.shift()
			low, size = e.low, e.high-e.low
		}
		n = n<<1 | bit
	}
	e.low, e.high = low, low+size
}

// decodeZeros decodes zeros at nodes that are as the first one, which zeros don't change, as long as no bits are to be shifted out. It
// returns the node after them.
func (t *Tree) decodeZeros(d *Decoder, a *Adaptation) uint32 {
	node, n := t.node, uint32(1)
	low, high, floor := d.low, d.high, uint64(a.floor)
	for int(n) < len(node) && node[n] == node[1] {
		next := low + (high-low)>>ProbBits*floor + 1
		if d.x < next || (next^high)>>32 == 0 {
			break
		}
		low = next
		n <<= 1
	}
	d.low = low
	return n
}

// decode is Code for decoding.
func (t *Tree) decode(d *Decoder, limit uint32, a *Adaptation) uint32 {
	node, n := t.node, uint32(1)
	if node[1] == never(limit) {
		n = t.decodeZeros(d, a)
	}
	low, size, above := d.low, d.high-d.low, d.x-d.low
	for int(n) < len(node) {
		p := &node[n]
		below := size >> ProbBits * uint64(a.Clamp(p.P()))
		bit := 0
		if above <= below {
			bit = 1
			size = below
		} else {
			size -= below + 1
			low += below + 1
			above -= below + 1
		}
		if (low^(low+size))>>32 == 0 {
			d.low, d.high = low, low+size
			d.shift()
			low, size, above = d.low, d.high-d.low, d.x-d.low
		}
		p.Update(bit, limit, a)
		n = n<<1 | uint32(bit)
	}
	d.low, d.high = low, low+size
	return n - 1<<t.bits
}

// decodeAny is CodeAny for decoding.
func (t *Tree) decodeAny(d *Decoder, limit uint32, a *Adaptation) uint32 {
	node, n := t.node, uint32(1)
	if node[1] == never(limit) {
		n = t.decodeZeros(d, a)
	}
	low, size, above := d.low, d.high-d.low, d.x-d.low
	for int(n) < len(node) {
		p := &node[n]
		below := size >> ProbBits * uint64(a.Clamp(p.P()))
		rest, more, one := size-below-1, below+1, uint32(0)
		if above <= below { // conditional moves
			rest, more, one = below, 0, 1
		}
		low, above, size = low+more, above-more, rest
		if (low^(low+size))>>32 == 0 {
			d.low, d.high = low, low+size
			d.shift()
			low, size, above = d.low, d.high-d.low, d.x-d.low
		}
		p.Update(int(one), limit, a)
		n = n<<1 | one
	}
	d.low, d.high = low, low+size
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
	n := int(m.length.CodeAny(c, uint32(bits.Len32(v)), limit))
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
