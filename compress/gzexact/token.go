package gzexact

import (
	"encoding/binary"
	"math/bits"

	"orcomgo/compress/rangecoder"
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
	size   int     // bytes of text
	tokens []token // unless it is stored
	codes  codes   // of a dynamic block
}

// codes are the two codes of a dynamic block.
type codes struct {
	lengths         deflate.CodeLengths
	literals, dists int    // how many lengths are written of either
	header          []byte // what is written of them
	bits            int    // of that
}

// read reads the codes. It reports whether a block may have them.
func (c *codes) read(from *deflate.Bits) (sound bool) {
	start := from.Bit
	c.lengths = deflate.CodeLengths{}
	if c.literals, c.dists, sound = from.CodeLengths(&c.lengths); !sound || c.lengths[endOfBlock] == 0 {
		return false
	}
	var w deflate.Writer
	c.bits = from.Bit - start
	for again := (deflate.Bits{In: from.In, Bit: start}); again.Bit < from.Bit; {
		n := min(from.Bit-again.Bit, 32)
		w.Put(again.Take(n), n)
	}
	c.header = w.Padded()
	return true
}

// literalLengths and distLengths are the lengths of the two codes.
func (c *codes) literalLengths() []uint8 { return c.lengths[:c.literals] }
func (c *codes) distLengths() []uint8    { return c.lengths[c.literals : c.literals+c.dists] }

// writeBlock appends a block, whose text begins where text does.
func writeBlock(w *deflate.Writer, b *block, text []byte) {
	w.Put(int(b.kind)<<1|rangecoder.BitOf(b.final), 3)
	lit, dist := deflate.StaticLiterals, deflate.StaticDists
	switch b.kind {
	case storedBlock:
		w.Bytes(binary.LittleEndian.AppendUint32(nil, uint32(b.size)|^uint32(b.size)<<16))
		w.Out = append(w.Out, text[:b.size]...)
		return
	case dynamicBlock:
		for i, v := range b.codes.header {
			w.Put(int(v), min(b.codes.bits-8*i, 8))
		}
		lit, dist = b.codes.literalLengths(), b.codes.distLengths()
	}
	literals, dists := deflate.SymbolsOf(lit), deflate.SymbolsOf(dist)
	for _, t := range b.tokens {
		if !t.isMatch() {
			w.Symbol(&literals, t.value())
			continue
		}
		s, d := lengthSymbols[t.value()], distSymbol(t.dist())
		w.Symbol(&literals, endOfBlock+1+int(s))
		w.Put(t.value()-int(deflate.LengthBase[s]), int(deflate.LengthExtra[s]))
		w.Symbol(&dists, d)
		w.Put(t.dist()-int(deflate.DistBase[d]), int(deflate.DistExtra[d]))
	}
	w.Symbol(&literals, endOfBlock)
}
