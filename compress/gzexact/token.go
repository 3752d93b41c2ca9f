package gzexact

import (
	"encoding/binary"
	"math/bits"
	"slices"

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
	var lengths [maxMatch + 1]uint32 // what is written of each length, above 5 bits of how many bits that is
	for v := minMatch; v < len(lengths); v++ {
		s := lengthSymbols[v]
		code := literals[endOfBlock+1+int(s)]
		n := code & 15
		lengths[v] = (code>>4|uint32(v-int(deflate.LengthBase[s]))<<n)<<5 | n + uint32(deflate.LengthExtra[s])
	}
	w.Flush()
	out := slices.Grow(w.Out, 6*len(b.tokens)+padBytes)
	at, out, pending, n := len(out), out[:cap(out)], w.Pending, w.N
	for _, t := range b.tokens {
		code := literals[t.value()&0xff]
		bits, more := uint64(code>>4), int(code&15)
		if t.isMatch() {
			code = lengths[t.value()]
			d := distSymbol(t.dist())
			bits, more = uint64(code>>5), int(code&31)
			bits |= uint64(dists[d]>>4) << (more & 63)
			more += int(dists[d] & 15)
			bits |= uint64(t.dist()-int(deflate.DistBase[d])) << (more & 63)
			more += int(deflate.DistExtra[d])
		}
		pending |= bits << (n & 63)
		n += more
		deflate.Store64(out, at, pending)
		at, pending, n = at+n>>3, pending>>(n&^7&63), n&7
	}
	w.Out, w.Pending, w.N = out[:at], pending, n
	w.Symbol(&literals, endOfBlock)
}
