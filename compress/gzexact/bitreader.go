package gzexact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// bitReader reads a file by bits, the lowest ones of a byte first.
type bitReader struct {
	r        io.Reader
	buf      []byte
	pos, end int    // buf[pos:end] was not taken into ahead yet
	before   int64  // bytes of the file before buf
	ahead    uint64 // the next bits; those above n are right or 0
	n        int    // bits in ahead; below 0 past the end of the file
	eof      bool
	err      error // of r
}

// kept is how many bytes before pos stay in buf, since ahead may be given back.
const kept = 8

func newBitReader(r io.Reader) *bitReader { return &bitReader{r: r, buf: make([]byte, 128<<10)} }

// more reads more of the file.
func (b *bitReader) more() {
	if b.eof {
		return
	}
	if from := b.pos - kept; from > 0 {
		copy(b.buf, b.buf[from:b.end])
		b.pos, b.end, b.before = kept, b.end-from, b.before+int64(from)
	}
	n, err := io.ReadAtLeast(b.r, b.buf[b.end:], 1)
	b.end += n
	if err != nil {
		b.eof = true
		if err != io.EOF {
			b.err = err
		}
	}
}

// fill makes ahead hold at least 56 bits, or all that are left.
func (b *bitReader) fill() {
	for b.end-b.pos < 8 && !b.eof {
		b.more()
	}
	if b.end-b.pos >= 8 && b.n >= 0 {
		b.ahead |= binary.LittleEndian.Uint64(b.buf[b.pos:]) << b.n
		k := (63 - b.n) >> 3
		b.pos += k
		b.n += 8 * k
		return
	}
	for ; b.n >= 0 && b.n <= 56 && b.pos < b.end; b.pos++ {
		b.ahead |= uint64(b.buf[b.pos]) << b.n
		b.n += 8
	}
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
func (b *bitReader) place() int64 { return b.before + int64(b.pos) - int64(max(b.n, 0)/8) }

// align gives whole bytes of ahead back, and returns the bits of the byte that was begun.
func (b *bitReader) align() (padding byte) {
	padding = byte(b.take(max(b.n, 0) & 7))
	b.pos -= max(b.n, 0) / 8
	b.ahead, b.n = 0, min(b.n, 0)
	return padding
}

// peek returns the next bytes, at most n, at a place where a byte begins. They are valid until the next call of a method.
func (b *bitReader) peek(n int) []byte {
	b.align()
	if n > len(b.buf)/2 {
		n = len(b.buf) / 2
	}
	for b.end-b.pos < n && !b.eof {
		b.more()
	}
	return b.buf[b.pos:min(b.end, b.pos+n)]
}

// skip goes past n bytes that peek returned.
func (b *bitReader) skip(n int) { b.pos += n }

// bytes appends the next n bytes to dst.
func (b *bitReader) bytes(dst []byte, n int) ([]byte, error) {
	for n > 0 {
		part := b.peek(n)
		if len(part) == 0 {
			return dst, b.truncated()
		}
		dst = append(dst, part...)
		b.skip(len(part))
		n -= len(part)
	}
	return dst, nil
}

// ErrInput means that a file is no sound gzip file.
var ErrInput = errors.New("not a sound gzip file")

func (b *bitReader) bad(what string) error {
	if b.err != nil {
		return b.err
	}
	if b.n < 0 {
		return b.truncated()
	}
	return fmt.Errorf("%w: %s, byte %d", ErrInput, what, b.place())
}

func (b *bitReader) truncated() error {
	if b.err != nil {
		return b.err
	}
	return fmt.Errorf("%w: cut off after byte %d", ErrInput, b.before+int64(b.end))
}

// readCode is a code to read. Codes of up to fastBits bits are in a table, by the next bits: symbol<<4 | bits; 0 for longer ones. These are
// found by going through the canonical code.
type readCode struct {
	fast   [1 << fastBits]uint16
	counts [maxCodeBits + 1]uint16
	sorted [288]uint16 // symbols by their codes
}

const fastBits = 11

// set makes the code of lengths. It reports whether there is one: it may be incomplete.
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
	var codes [288]code
	writeCodes(codes[:], lengths)
	clear(c.fast[:])
	for s, n := range lengths {
		if n == 0 {
			continue
		}
		c.sorted[at[n]] = uint16(s)
		at[n]++
		if n > fastBits {
			continue
		}
		for i := int(codes[s] >> 4); i < 1<<fastBits; i += 1 << n {
			c.fast[i] = uint16(s)<<4 | uint16(n)
		}
	}
	return true
}

// long returns the symbol and the bits of a code that is not in the table; 0 bits if there is none.
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
