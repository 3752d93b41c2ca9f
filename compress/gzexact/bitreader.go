package gzexact

import (
	"errors"
	"fmt"
	"io"

	"orcomgo/internal/deflate"
)

// ErrInput means that a file is no sound gzip file.
var ErrInput = errors.New("not a sound gzip file")

// bitReader reads a file by bits, the lowest ones of a byte first.
type bitReader struct {
	r      io.Reader
	buf    []byte // of the file
	before int64  // bytes of the file before buf
	at     int    // in buf, of the first byte that is not in ahead
	ahead  uint64 // the next bits
	n      int    // bits in ahead; below 0 past the end of the file
	err    error  // of r
}

func (b *bitReader) init(r io.Reader) { b.r, b.buf = r, make([]byte, 0, 64<<10) }

// more reads on, and reports whether there was more. The last bytes before b.at stay.
func (b *bitReader) more() bool {
	if b.err != nil {
		return false
	}
	from := max(b.at-8, 0)
	kept := copy(b.buf, b.buf[from:])
	b.before, b.at = b.before+int64(from), b.at-from
	var n int
	n, b.err = io.ReadAtLeast(b.r, b.buf[kept:cap(b.buf)], 1)
	b.buf = b.buf[:kept+n]
	return n > 0
}

// has reports whether n more bytes follow those in ahead; up to 8.
func (b *bitReader) has(n int) bool {
	for len(b.buf)-b.at < n {
		if !b.more() {
			return false
		}
	}
	return true
}

// fill makes ahead hold at least 56 bits, or all that are left.
func (b *bitReader) fill() {
	if b.n < 0 {
		return
	}
	if b.has(8) {
		b.ahead |= deflate.Load64(b.buf, b.at) << b.n
		b.at += (63 - b.n) >> 3
		b.n |= 56
		return
	}
	for ; b.n <= 56 && b.at < len(b.buf); b.n += 8 {
		b.ahead |= uint64(b.buf[b.at]) << b.n
		b.at++
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
func (b *bitReader) place() int64 { return b.before + int64(b.at-b.n>>3) }

// align goes past the rest of a byte that was begun; its bits are 0 in the files of all known writers.
func (b *bitReader) align() error {
	if rest := b.take(max(b.n, 0) & 7); b.n < 0 {
		return b.bad("")
	} else if rest != 0 {
		return ErrUnknownWriter
	}
	b.at -= b.n >> 3
	b.ahead, b.n = 0, 0
	return nil
}

// bytes appends the next n bytes to dst, where a byte begins and ahead is empty.
func (b *bitReader) bytes(dst []byte, n int) ([]byte, error) {
	for n > 0 && b.has(1) {
		part := b.buf[b.at:min(b.at+n, len(b.buf))]
		dst = append(dst, part...)
		b.at, n = b.at+len(part), n-len(part)
	}
	if n > 0 {
		return dst, b.bad("")
	}
	return dst, nil
}

// bad returns what is wrong with the file, unless it could not be read or is cut off.
func (b *bitReader) bad(what string) error {
	if b.err != nil && b.err != io.EOF {
		return b.err
	}
	if b.n < 0 || what == "" {
		what = "it is cut off"
	}
	return fmt.Errorf("%w: %s, byte %d", ErrInput, what, b.place())
}

// readCode is a code to read. Codes of up to fastBits bits are in a table.
type readCode struct {
	deflate.Code
	fast [1 << fastBits]uint16
}

const fastBits = 11

// set makes the code of lengths. It reports whether a block may have it.
func (c *readCode) set(lengths []uint8) bool {
	sound := c.InitBlock(lengths)
	c.Fill(c.fast[:])
	return sound
}

// symbol returns the next symbol and how many bits it has; 0 bits if there is none.
func (c *readCode) symbol(ahead uint64) (symbol, n int) {
	if e := c.fast[ahead&(1<<fastBits-1)]; e != 0 {
		return int(e >> 4), int(e & 15)
	}
	symbol, n, _ = c.Read(ahead, deflate.MaxBits)
	return symbol, n
}
