package names

import (
	"math/bits"

	"orcomgo/compress/rangecoder"
)

// slot is an adaptive probability that a bit is 1: 22 bits of probability above 10 bits of
// count. A young slot moves fast, by 1/(count+1.5), an old one by about 1/limit.
type slot uint32

const newSlot slot = 1 << 31

// rates[c] is 65536/(c+1.5).
var rates = func() (t [1024]uint32) {
	for i := range t {
		t[i] = uint32(2 * 65536 / (2*i + 3))
	}
	return t
}()

func (s slot) p() uint32 { return uint32(s >> 16) }

func (s *slot) update(bit int, limit uint32) {
	v := uint32(*s)
	c := v & 1023
	p := int64(v >> 10)
	p += (int64(-bit&(1<<22-1)) - p) * int64(rates[c]) >> 16
	if c < limit {
		c++
	}
	*s = slot(uint32(p)<<10 | c)
}

func clampP(p uint32) uint32 {
	return min(max(p, 8), 65528)
}

const (
	tableBits = 18
	maxInputs = 6
	mixSets   = 1 << 10
)

// coder carries a bit to the encoder or fetches it from the decoder, so that each model is
// written once for both ways. In decoding, the values handed to it are ignored.
type coder struct {
	enc      rangecoder.Encoder
	dec      rangecoder.Decoder
	raw      bitWriter // what even codes
	rawIn    bitReader
	decoding bool

	table   *[1 << tableBits]slot
	weights [mixSets][maxInputs]int32

	ctx [maxInputs]uint32 // hashes of the contexts of the symbol being coded
	n   int               // how many
}

func (c *coder) init() {
	c.table = new([1 << tableBits]slot)
	for i := range c.table {
		c.table[i] = newSlot
	}
	for i := range c.weights {
		for j := range c.weights[i] {
			c.weights[i][j] = 65536 * 3 / 10
		}
	}
}

func (c *coder) code(bit int, p uint32) int {
	if c.decoding {
		return c.dec.Decode(p)
	}
	c.enc.Encode(bit, p)
	return bit
}

// hash mixes a context into 32 bits.
func hash(a, b, c uint32) uint32 {
	h := a*0x9E3779B1 ^ b*0x85EBCA77 ^ c*0xC2B2AE3D
	h ^= h >> 15
	h *= 0x2C1B3C6D
	return h ^ h>>13
}

func at(h, node uint32) uint32 {
	return ((h ^ node*0x9E3779B1) * 0x85EBCA6B) >> (32 - tableBits)
}

// direct codes a bit by one context.
func (c *coder) direct(bit int, h uint32, limit uint32) int {
	s := &c.table[at(h, 0)]
	bit = c.code(bit, clampP(s.p()))
	s.update(bit, limit)
	return bit
}

// tree codes the n low bits of v, first the most significant, by one context.
func (c *coder) tree(v uint32, n int, h uint32, limit uint32) uint32 {
	node := uint32(1)
	for i := n - 1; i >= 0; i-- {
		s := &c.table[at(h, node)]
		b := c.code(int(v>>i&1), clampP(s.p()))
		s.update(b, limit)
		node = node<<1 | uint32(b)
	}
	return node - 1<<n
}

// even codes the n low bits of v, each as likely 0 as 1; n <= 32. They go past the
// arithmetic coder.
func (c *coder) even(v uint32, n int) uint32 {
	if c.decoding {
		return c.rawIn.get(n)
	}
	v &= uint32(uint64(1)<<n - 1)
	c.raw.put(v, n)
	return v
}

// mixed codes a bit by the contexts in c.ctx at the given node, with the weights of set.
func (c *coder) mixed(bit int, node uint32, set uint32, limit uint32) int {
	var st [maxInputs]int32
	var slots [maxInputs]*slot
	w := &c.weights[set&(mixSets-1)]
	dot := int64(0)
	n := c.n & 7
	for i := 0; i < n && i < maxInputs; i++ {
		s := &c.table[at(c.ctx[i], node)]
		slots[i] = s
		st[i] = rangecoder.Stretch(s.p())
		dot += int64(st[i]) * int64(w[i])
	}
	p := clampP(rangecoder.Squash(int32(dot >> 16)))
	bit = c.code(bit, p)
	err := int32(bit<<16) - int32(p)
	for i := 0; i < n && i < maxInputs; i++ {
		w[i] += (st[i]*err + 1<<14) >> 15
		slots[i].update(bit, limit)
	}
	return bit
}

// mixedTree codes the n low bits of v, most significant first, by mixed.
func (c *coder) mixedTree(v uint32, n int, set uint32, limit uint32) uint32 {
	node := uint32(1)
	for i := n - 1; i >= 0; i-- {
		b := c.mixed(int(v>>i&1), node, set+uint32(i), limit)
		node = node<<1 | uint32(b)
	}
	return node - 1<<n
}

func bitLen(v uint32) int { return bits.Len32(v) }
