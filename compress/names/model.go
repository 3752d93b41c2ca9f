package names

import (
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

const tableBits = 16

// coder codes decisions in either direction (see rangecoder.Coder) under probabilities that are looked up by context hashes.
type coder struct {
	rc.Coder
	probs  *[1 << tableBits]rc.Prob
	newest *symbols // the last that were made
	made   int      // how many were
}

// init makes the tables. No other goroutine has them yet, so the race detector does not look at each write.
//
//go:norace
func (c *coder) init() {
	c.probs = new([1 << tableBits]rc.Prob)
	rc.FillProbs(c.probs[:])
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

// at returns the probability of a context with hash h.
func (c *coder) at(h uint32) *rc.Prob { return &c.probs[slotIndex(h, 0)] }

// direct codes a bit by one context.
func (c *coder) direct(bit int, h uint32, limit uint32) int { return c.Adapt(bit, c.at(h), limit) }

// tree codes the n low bits of v, the most significant first, by one context.
func (c *coder) tree(v uint32, n int, h uint32, limit uint32) uint32 {
	node := uint32(1)
	for i := n - 1; i >= 0; i-- {
		node = node<<1 | uint32(c.Adapt(int(v>>i&1), &c.probs[slotIndex(h, node)], limit))
	}
	return node - 1<<n
}

// symbolCount is the size of the alphabet of symbols.
const symbolBits, symbolCount = 7, 1 << symbolBits

// symbols has the frequencies of the symbols of a context. A symbol is coded in one step, with probabilities that are made from the counts
// now and then.
type symbols struct {
	start       [symbolCount + 1]uint16 // of the part of each symbol, in 1/65536; modulo 65536, so the last is 0
	find        [symbolCount]uint8      // for each 128th of the interval, the first symbol in it
	count       [symbolCount]uint16
	coded, next uint32 // symbols coded so far, and after how many probabilities are made anew
}

// The counts of symbols begin at 1 and grow by symbolStep; all are halved where one is more than symbolMost.
const (
	symbolStep = 24
	symbolMost = 7 << 10
	maxSymbols = 1 << 13
)

// learn counts symbol s.
func (t *symbols) learn(s uint32) {
	if t.count[s] += symbolStep; t.count[s] > symbolMost {
		for i := range t.count {
			t.count[i] = (t.count[i] + 1) / 2
		}
	}
	if t.coded++; t.coded >= t.next {
		t.next = t.coded + min(t.coded/16+1, 256)
		t.rebuild()
	}
}

// rebuild makes the probabilities from the counts.
func (t *symbols) rebuild() {
	total := uint64(0)
	for _, n := range t.count {
		total += uint64(n)
	}
	unit := (1<<rc.ProbBits - symbolCount) << 16 / total
	at, from := uint32(0), 0
	for s, n := range t.count {
		t.start[s] = uint16(at)
		at += 1 + uint32(uint64(n)*unit>>16)
		for ; from < symbolCount && uint32(from)<<9 < at; from++ {
			t.find[from] = uint8(s)
		}
	}
	for ; from < symbolCount; from++ {
		t.find[from] = symbolCount - 1
	}
}

// fresh returns new frequencies; each of the first symbols, so many, has occurred once. Only maxSymbols of them are made; the last one is
// returned again after that.
func (c *coder) fresh(once uint32) *symbols {
	if c.made < maxSymbols {
		c.made++
		c.newest = &symbols{}
		for i := range c.newest.count {
			c.newest.count[i] = 1
		}
		for i := range min(once, symbolCount) {
			c.newest.count[i] += symbolStep
		}
		c.newest.rebuild()
	}
	return c.newest
}

// table returns the frequencies at p, which are made as by fresh if there are none.
func (c *coder) table(p **symbols, once uint32) *symbols {
	if *p == nil {
		*p = c.fresh(once)
	}
	return *p
}

// symbolTo codes a symbol that is at most last.
func (c *coder) symbolTo(s, last uint32, t *symbols) uint32 {
	all := uint64(t.start[last+1]-1) + 1
	if c.Dec != nil {
		point := uint32((uint64(c.Dec.Point()+1)*all - 1) >> 16)
		for s = uint32(t.find[point>>9]); uint32(t.start[s+1]-1) < point; s++ {
		}
	}
	from := uint32(uint64(t.start[s]) << 16 / all)
	to := uint32((uint64(t.start[s+1]-1) + 1) << 16 / all)
	if c.Dec != nil {
		c.Dec.DecodePart(from, to-from)
	} else {
		c.Enc.EncodePart(from, to-from)
	}
	t.learn(s)
	return s
}

// symbol codes a symbol by the frequencies at p, which are made if there are none.
func (c *coder) symbol(s uint32, p **symbols) uint32 {
	t := c.table(p, 0)
	if c.Dec != nil {
		point := c.Dec.Point()
		for s = uint32(t.find[point>>9]); uint32(t.start[s+1]-1) < point; s++ {
		}
		c.Dec.DecodePart(uint32(t.start[s]), t.width(s))
	} else {
		c.Enc.EncodePart(uint32(t.start[s]), t.width(s))
	}
	t.learn(s)
	return s
}

// width returns the probability of symbol s, in 1/65536.
func (t *symbols) width(s uint32) uint32 { return uint32(t.start[s+1] - t.start[s]) }

// spread codes v >= 1: the number of its bits and the two below the first one by the frequencies at p, the others as equally likely.
func (c *coder) spread(v uint32, p **symbols) uint32 {
	k := max(bits.Len32(v), 1) - 1
	s := c.symbol(uint32(k)<<2|uint32(uint64(v)<<2>>k)&3, p)
	k = int(s >> 2)
	return uint32(uint64(4|s&3)<<k>>2) | c.Uniform(v, max(k-2, 0))
}
