package gzexact

import (
	"math/bits"

	"orcomgo/internal/deflate"
)

const (
	windowSize = deflate.WindowSize
	minMatch   = deflate.MinMatch
	maxMatch   = deflate.MaxMatch
	endOfBlock = deflate.EndOfBlock
)

// A token is a literal or a match of a block: the byte, or the length, above 16 bits of the distance. The distance of a literal is 0.
type token uint32

func literal(b byte) token { return token(b) << 16 }

func match(length, dist int) token { return token(length<<16 | dist) }

func (t token) isMatch() bool { return t&0xffff != 0 }

func (t token) value() int { return int(t >> 16) }

func (t token) dist() int { return int(t & 0xffff) }

// size returns how many bytes of text t is.
func (t token) size() int {
	if t.isMatch() {
		return t.value()
	}
	return 1
}

// lengthSymbols has, for each length of a match, its symbol less 257.
var lengthSymbols = func() (lengths [maxMatch + 1]uint8) {
	for s, base := range deflate.LengthBase {
		for v := int(base); v < len(lengths); v++ {
			lengths[v] = uint8(s)
		}
	}
	return
}()

// distSymbol returns the symbol of a distance.
func distSymbol(dist int) int {
	v := uint(dist - 1)
	if v < 4 {
		return int(v)
	}
	n := bits.Len(v) - 1
	return 2*n + int(v>>(n-1)&1)
}

// The kinds of blocks, as they are written.
const (
	storedBlock = iota
	staticBlock
	dynamicBlock
)

// block is a block of a deflate stream.
type block struct {
	kind   byte
	final  bool
	bit    byte    // where in a byte it begins
	size   int     // bytes of text
	tokens []token // unless it is stored
	codes  codes   // of a dynamic block
}

// codes are the two codes of a dynamic block, and how they are written.
type codes struct {
	literals, dists int // how many lengths are written of either
	lengths         [deflate.Literals + deflate.Dists]uint8
	items           []item // the lengths, in runs
	itemLengths     [deflate.LengthCodes]uint8
	itemCount       int // how many of itemLengths are written, in their order
}

// literalLengths and distLengths are the lengths of the two codes.
func (c *codes) literalLengths() []uint8 { return c.lengths[:c.literals] }
func (c *codes) distLengths() []uint8    { return c.lengths[c.literals : c.literals+c.dists] }

// An item is a length, or a run of lengths: symbol | value of its further bits << 8.
type item uint16

// Symbols of items that are runs.
const (
	repeatLast  = 16 // 3 to 6 times
	repeatZero  = 17 // 3 to 10 times
	repeatZeros = 18 // 11 to 138 times
)

func (i item) symbol() int { return int(i & 0xff) }

// itemExtra has, for each symbol of items, how many further bits it has, and itemRuns how many lengths it is besides their value, or 0 for
// one.
var (
	itemExtra = [deflate.LengthCodes]int{repeatLast: 2, repeatZero: 3, repeatZeros: 7}
	itemRuns  = [deflate.LengthCodes]int{repeatLast: 3, repeatZero: 3, repeatZeros: 11}
)

// add appends an item, of which n lengths are set already. It returns how many are then, or -1 if that is not possible.
func (c *codes) add(it item, n int) int {
	c.items = append(c.items, it)
	s, value := it.symbol(), uint8(0)
	if s >= deflate.LengthCodes || int(it>>8) >= 1<<itemExtra[s] || s == repeatLast && n == 0 {
		return -1
	}
	end := n + max(itemRuns[s]+int(it>>8), 1)
	if end > c.literals+c.dists {
		return -1
	}
	switch {
	case s == repeatLast:
		value = c.lengths[n-1]
	case s < repeatLast:
		value = uint8(s)
	}
	for ; n < end; n++ {
		c.lengths[n] = value
	}
	return n
}
