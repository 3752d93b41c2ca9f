package gzexact

import (
	"encoding/binary"

	"orcomgo/internal/deflate"
)

// bitWriter appends to a stream, the lowest bits of a byte first.
type bitWriter struct {
	out     []byte
	pending uint64
	n       int // bits in pending
}

// put appends the n low bits of v, which has no others; n is at most 32.
func (w *bitWriter) put(v, n int) {
	w.pending |= uint64(v) << (w.n & 63)
	if w.n += n; w.n >= 32 {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.pending))
		w.pending >>= 32
		w.n -= 32
	}
}

// flush appends the whole bytes of pending.
func (w *bitWriter) flush() {
	for ; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.pending))
		w.pending >>= 8
	}
}

// padded returns the bytes; the last one has zeros behind the last bit.
func (w *bitWriter) padded() []byte {
	w.n = (w.n + 7) &^ 7
	w.flush()
	return w.out
}

// bytes appends whole bytes, where the next byte begins.
func (w *bitWriter) bytes(b []byte) { w.out = append(w.padded(), b...) }

// code is a code to write: its bits, the first one lowest, above the number of them.
type code uint32

// writeCodes returns the code of lengths.
func writeCodes(lengths []uint8) (codes [288]code) {
	var c deflate.Code
	c.Init(lengths)
	c.Each(func(symbol, bits, n int) { codes[symbol] = code(bits<<4 | n) })
	return codes
}

func (w *bitWriter) putCode(c code) { w.put(int(c>>4), int(c&15)) }

// block appends a block, whose text begins where text does.
func (w *bitWriter) block(b *block, text []byte) {
	w.put(int(b.kind)<<1|boolBit(b.final), 3)
	lit, dist := deflate.StaticLiterals, deflate.StaticDists
	switch b.kind {
	case storedBlock:
		w.bytes(binary.LittleEndian.AppendUint32(nil, uint32(b.size)|^uint32(b.size)<<16))
		w.out = append(w.out, text[:b.size]...)
		return
	case dynamicBlock:
		for i, v := range b.codes.header {
			w.put(int(v), min(b.codes.bits-8*i, 8))
		}
		lit, dist = b.codes.literalLengths(), b.codes.distLengths()
	}
	literals, dists := writeCodes(lit), writeCodes(dist)
	for _, t := range b.tokens {
		if !t.isMatch() {
			w.putCode(literals[t.value()])
			continue
		}
		s, d := lengthSymbols[t.value()], distSymbol(t.dist())
		w.putCode(literals[endOfBlock+1+int(s)])
		w.put(t.value()-int(deflate.LengthBase[s]), int(deflate.LengthExtra[s]))
		w.putCode(dists[d])
		w.put(t.dist()-int(deflate.DistBase[d]), int(deflate.DistExtra[d]))
	}
	w.putCode(literals[endOfBlock])
}

func boolBit(b bool) int {
	if b {
		return 1
	}
	return 0
}
