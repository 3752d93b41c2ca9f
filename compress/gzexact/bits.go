package gzexact

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// ErrInput means that a file is no sound gzip file.
var ErrInput = errors.New("not a sound gzip file")

// bitReader reads a file by bits, the lowest ones of a byte first.
type bitReader struct {
	r      *bufio.Reader
	before int64  // bytes of the file that r has gone past
	ahead  uint64 // the next bits of those that follow
	n      int    // bits in ahead; below 0 past the end of the file
	loaded int    // of so many
}

// fill makes ahead hold at least 57 bits, or all that are left.
func (b *bitReader) fill() {
	if b.n < 0 {
		return
	}
	used := b.loaded - b.n
	b.discard(used / 8)
	p, _ := b.r.Peek(8)
	if len(p) < 8 {
		var padded [8]byte
		b.loaded = 8 * copy(padded[:], p)
		p = padded[:]
	} else {
		b.loaded = 64
	}
	b.ahead = binary.LittleEndian.Uint64(p) >> (used & 7)
	b.n = b.loaded - used&7
}

func (b *bitReader) discard(n int) {
	n, _ = b.r.Discard(n)
	b.before += int64(n)
}

// take returns the next k bits; 0 to 32.
func (b *bitReader) take(k int) uint32 {
	if b.n < k {
		b.fill()
	}
	v := uint32(b.ahead & (1<<k - 1))
	b.ahead >>= k
	b.n -= k
	return v
}

// bit returns where in a byte the next bit is.
func (b *bitReader) bit() byte { return byte(-b.n & 7) }

// place returns how many bytes of the file were begun.
func (b *bitReader) place() int64 { return b.before + int64(b.loaded-b.n+7)/8 }

// align goes past the rest of a byte that was begun; its bits are 0 in the files of all known writers.
func (b *bitReader) align() error {
	if rest := b.take(max(b.n, 0) & 7); b.n < 0 {
		return b.bad("")
	} else if rest != 0 {
		return ErrUnknownWriter
	}
	b.discard((b.loaded - b.n) / 8)
	b.ahead, b.n, b.loaded = 0, 0, 0
	return nil
}

// bytes appends the next n bytes to dst, where a byte begins.
func (b *bitReader) bytes(dst []byte, n int) ([]byte, error) {
	at := len(dst)
	dst = append(dst, make([]byte, n)...)
	got, err := io.ReadFull(b.r, dst[at:])
	b.before += int64(got)
	if err != nil {
		return dst, b.bad("")
	}
	return dst, nil
}

// bad returns what is wrong with the file, unless it could not be read or is cut off.
func (b *bitReader) bad(what string) error {
	if _, err := b.r.Peek(9); err != nil && err != io.EOF {
		return err
	} else if err == io.EOF && (b.n < 0 || what == "") {
		what = "it is cut off"
	}
	return fmt.Errorf("%w: %s, byte %d", ErrInput, what, b.place())
}

// readCode is a code to read. Codes of up to fastBits bits are in a table, by the next bits: symbol<<4 | bits; 0 for longer ones. These are
// found by going through the canonical code.
type readCode struct {
	fast   [1 << fastBits]uint16
	counts [maxCodeBits + 1]uint16
	sorted [288]uint16 // symbols by their codes
}

const fastBits = 11

// set makes the code of lengths, which may be incomplete. It reports whether there is one.
func (c *readCode) set(lengths []uint8) bool {
	c.counts = [maxCodeBits + 1]uint16{}
	for _, n := range lengths {
		c.counts[n]++
	}
	c.counts[0] = 0
	var at [maxCodeBits + 2]uint16
	left := 1
	for n := 1; n <= maxCodeBits; n++ {
		at[n+1] = at[n] + c.counts[n]
		if left = left<<1 - int(c.counts[n]); left < 0 {
			return false
		}
	}
	codes := writeCodes(lengths)
	clear(c.fast[:])
	for s, n := range lengths {
		if n == 0 {
			continue
		}
		c.sorted[at[n]] = uint16(s)
		at[n]++
		for i := int(codes[s] >> 4); n <= fastBits && i < 1<<fastBits; i += 1 << n {
			c.fast[i] = uint16(s)<<4 | uint16(n)
		}
	}
	return true
}

// symbol returns the next symbol and how many bits it has; 0 bits if there is none.
func (c *readCode) symbol(ahead uint64) (symbol, n int) {
	if e := c.fast[ahead&(1<<fastBits-1)]; e != 0 {
		return int(e >> 4), int(e & 15)
	}
	return c.long(ahead)
}

func (c *readCode) long(ahead uint64) (symbol, n int) {
	value, first, index := 0, 0, 0
	for n := 1; n <= maxCodeBits; n++ {
		value |= int(ahead & 1)
		ahead >>= 1
		count := int(c.counts[n])
		if value-first < count {
			return int(c.sorted[index+value-first]), n
		}
		index += count
		first = (first + count) << 1
		value <<= 1
	}
	return 0, 0
}

// bitWriter appends to a stream, the lowest bits of a byte first.
type bitWriter struct {
	out     []byte
	pending uint64
	n       int // bits in pending
}

// put appends the n low bits of v, which has no others; n is at most 32.
func (w *bitWriter) put(v, n int) {
	w.pending |= uint64(v) << w.n
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

// bytes appends whole bytes, where the next byte begins.
func (w *bitWriter) bytes(b []byte) {
	w.n = (w.n + 7) &^ 7
	w.flush()
	w.out = append(w.out, b...)
}

// code is a code to write: its bits, the first one lowest, above the number of them.
type code uint32

// writeCodes returns the canonical code of lengths.
func writeCodes(lengths []uint8) (codes [288]code) {
	var next, counts [maxCodeBits + 2]uint16
	for _, n := range lengths {
		counts[n]++
	}
	counts[0] = 0
	for n := 1; n <= maxCodeBits; n++ {
		next[n+1] = (next[n] + counts[n]) << 1
	}
	for i, n := range lengths {
		if n > 0 {
			codes[i] = code(bits.Reverse16(next[n])>>(16-n))<<4 | code(n)
			next[n]++
		}
	}
	return codes
}

func (w *bitWriter) putCode(c code) { w.put(int(c>>4), int(c&15)) }

// block appends a block, whose text begins where text does.
func (w *bitWriter) block(b *block, text []byte) {
	w.put(int(b.kind)<<1|boolBit(b.final), 3)
	lit, dist := staticLiterals, staticDists
	switch b.kind {
	case storedBlock:
		w.bytes(binary.LittleEndian.AppendUint32(nil, uint32(b.size)|^uint32(b.size)<<16))
		w.out = append(w.out, text[:b.size]...)
		return
	case dynamicBlock:
		w.codes(&b.codes)
		lit, dist = b.codes.literalLengths(), b.codes.distLengths()
	}
	literals, dists := writeCodes(lit), writeCodes(dist)
	for _, t := range b.tokens {
		if !t.isMatch() {
			w.putCode(literals[t.value()])
			continue
		}
		s := lengthSymbols[t.value()]
		w.putCode(literals[endOfBlock+1+int(s)])
		w.put(t.value()-int(lengthBase[s]), int(lengthExtra[s]))
		d := distSymbol(t.dist())
		w.putCode(dists[d])
		w.put(t.dist()-distBase(d), distExtra(d))
	}
	w.putCode(literals[endOfBlock])
}

// codes appends the codes of a dynamic block.
func (w *bitWriter) codes(c *codes) {
	w.put(c.literals-257, 5)
	w.put(c.dists-1, 5)
	w.put(c.itemCount-4, 4)
	for _, s := range itemOrder[:c.itemCount] {
		w.put(int(c.itemLengths[s]), 3)
	}
	codes := writeCodes(c.itemLengths[:])
	for _, it := range c.items {
		w.putCode(codes[it.symbol()])
		w.put(int(it>>8), itemExtra[it.symbol()])
	}
}

func boolBit(b bool) int {
	if b {
		return 1
	}
	return 0
}
