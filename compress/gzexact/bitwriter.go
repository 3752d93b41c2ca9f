package gzexact

import (
	"encoding/binary"
	"math/bits"
)

// bitWriter appends to a stream, the lowest bits of a byte first.
type bitWriter struct {
	out     []byte
	pending uint64
	n       uint // bits in pending
}

// put appends the n low bits of v, which has no others; n is at most 32.
func (w *bitWriter) put(v uint64, n uint) {
	w.pending |= v << w.n
	w.n += n
	if w.n >= 32 {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.pending))
		w.pending >>= 32
		w.n -= 32
	}
}

// align ends the byte that was begun; its bits left are those of padding.
func (w *bitWriter) align(padding byte) {
	if rest := -w.n & 7; rest > 0 {
		w.put(uint64(padding&(1<<rest-1)), rest)
	}
	for ; w.n > 0; w.n -= 8 {
		w.out = append(w.out, byte(w.pending))
		w.pending >>= 8
	}
}

// bytes appends whole bytes, where a byte begins.
func (w *bitWriter) bytes(b []byte) {
	w.align(0)
	w.out = append(w.out, b...)
}

// code is a code to write: its bits, the first one lowest, above the number of them.
type code uint32

// writeCodes returns the canonical code of lengths.
func writeCodes(to []code, lengths []uint8) {
	var next, counts [maxCodeBits + 2]uint32
	for _, n := range lengths {
		counts[n]++
	}
	counts[0] = 0
	for n := 1; n <= maxCodeBits; n++ {
		next[n+1] = (next[n] + counts[n]) << 1
	}
	for i, n := range lengths {
		to[i] = 0
		if n > 0 {
			to[i] = code(bits.Reverse16(uint16(next[n]))>>(16-n))<<4 | code(n)
			next[n]++
		}
	}
}

func (w *bitWriter) putCode(c code) { w.put(uint64(c>>4), uint(c&15)) }

// block appends a block, whose text begins where text does.
func (w *bitWriter) block(b *block, text []byte) {
	w.put(uint64(b.kind)<<1|uint64(boolBit(b.final)), 3)
	var lit [288]code
	var dist [distCodes]code
	switch b.kind {
	case storedBlock:
		w.align(b.padding)
		w.out = binary.LittleEndian.AppendUint16(w.out, uint16(b.size))
		w.out = binary.LittleEndian.AppendUint16(w.out, ^uint16(b.size))
		w.out = append(w.out, text[:b.size]...)
		return
	case staticBlock:
		writeCodes(lit[:], staticLiterals[:])
		writeCodes(dist[:], staticDists[:])
	default:
		w.codes(&b.codes)
		writeCodes(lit[:], b.codes.literalLengths())
		writeCodes(dist[:], b.codes.distLengths())
	}
	for _, t := range b.tokens {
		if !t.isMatch() {
			w.putCode(lit[t.value()])
			continue
		}
		s := lengthSymbols[t.value()]
		w.putCode(lit[endOfBlock+1+int(s)])
		w.put(uint64(t.value())-uint64(lengthBase[s])-uint64(boolBit(t.value() == oddLength)), uint(lengthExtra[s]))
		d := distSymbol(t.dist())
		w.putCode(dist[d])
		w.put(uint64(t.dist()-distBase(d)), uint(distExtra(d)))
	}
	w.putCode(lit[endOfBlock])
}

// codes appends the codes of a dynamic block.
func (w *bitWriter) codes(c *codes) {
	w.put(uint64(c.literals-257), 5)
	w.put(uint64(c.dists-1), 5)
	w.put(uint64(c.itemCount-4), 4)
	for _, s := range itemOrder[:c.itemCount] {
		w.put(uint64(c.itemLengths[s]), 3)
	}
	var code [itemCodes]code
	writeCodes(code[:], c.itemLengths[:])
	for _, it := range c.items {
		w.putCode(code[it.symbol()])
		w.put(uint64(it>>8), uint(itemExtra(it.symbol())))
	}
}

func boolBit(b bool) int {
	if b {
		return 1
	}
	return 0
}
