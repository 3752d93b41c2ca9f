package names

import (
	"math/bits"

	"orcomgo/compress/mixing"
	rc "orcomgo/compress/rangecoder"
)

const (
	tableBits = 18
	maxInputs = 6
	mixSets   = 1 << 10
	mixRate   = 32 // see mixing.Step
)

// coder codes decisions in either direction (see rangecoder.Coder) under probabilities that are looked up by context hashes.
type coder struct {
	rc.Coder
	table   *[1 << tableBits]rc.Prob
	weights [mixSets][maxInputs]int32

	ctx [maxInputs]uint32 // hashes of the contexts of the symbol being coded
	n   int               // how many
}

// init makes the tables. No other goroutine has them yet, so the race detector does not look at each write.
//
//go:norace
func (c *coder) init() {
	c.table = new([1 << tableBits]rc.Prob)
	rc.FillProbs(c.table[:])
	for i := range c.weights {
		for j := range c.weights[i] {
			c.weights[i][j] = mixing.One * 3 / 10
		}
	}
}

// hash mixes a context into 32 bits.
func hash(a, b, c uint32) uint32 {
	h := a*0x9E3779B1 ^ b*0x85EBCA77 ^ c*0xC2B2AE3D
	h ^= h >> 15
	h *= 0x2C1B3C6D
	return h ^ h>>13
}

// slotIndex returns the index in the table of a node of the context with hash h.
func slotIndex(h, node uint32) uint32 {
	return ((h ^ node*0x9E3779B1) * 0x85EBCA6B) >> (32 - tableBits)
}

// direct codes a bit by one context.
func (c *coder) direct(bit int, h uint32, limit uint32) int {
	return c.Adapt(bit, &c.table[slotIndex(h, 0)], limit)
}

// tree codes the n low bits of v, the most significant first, by one context.
func (c *coder) tree(v uint32, n int, h uint32, limit uint32) uint32 {
	node := uint32(1)
	for i := n - 1; i >= 0; i-- {
		node = node<<1 | uint32(c.Adapt(int(v>>i&1), &c.table[slotIndex(h, node)], limit))
	}
	return node - 1<<n
}

// mixed codes a bit by the contexts in c.ctx at the given node, with the weights of set.
func (c *coder) mixed(bit int, node uint32, set uint32, limit uint32) int {
	var st [maxInputs]int64
	var slots [maxInputs]*rc.Prob
	w := &c.weights[set&(mixSets-1)]
	dot := int64(0)
	n := c.n & 7
	for i := 0; i < n && i < maxInputs; i++ {
		s := &c.table[slotIndex(c.ctx[i], node)]
		slots[i] = s
		st[i] = int64(mixing.Stretch(s.P()))
		dot += st[i] * int64(w[i])
	}
	p := mixing.Predict(dot)
	bit = c.Bit(bit, p)
	step := mixing.Step(bit, p, mixRate)
	for i := 0; i < n && i < maxInputs; i++ {
		mixing.Move(&w[i], st[i], step)
		slots[i].Update(bit, limit)
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
