// Package parse has what the readers of all formats share: the errors for damaged and unknown
// files, and a Cursor that parses numbers and bytes; and what their writers append.
package parse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// What can be wrong with a file. The errors that readers return wrap one of these.
var (
	// ErrCorrupt means that a file is damaged, truncated, or belongs to another archive.
	ErrCorrupt = errors.New("archive is damaged")
	// ErrVersion means that a file is of a version that this program does not know.
	ErrVersion = errors.New("unknown format version")
)

// Cursor parses Rest from its beginning: each method removes what it returns. After the first
// failure they return zeros, and Reason says what was wrong.
type Cursor struct {
	Rest   []byte // not parsed yet
	Reason string // "" before the first failure
}

// Failed reports whether something could not be parsed.
func (c *Cursor) Failed() bool { return c.Reason != "" }

// Done reports whether nothing failed and nothing is left.
func (c *Cursor) Done() bool { return c.Reason == "" && len(c.Rest) == 0 }

// Fail records a failure; the first one counts.
func (c *Cursor) Fail(format string, args ...any) {
	if c.Reason == "" {
		c.Reason = fmt.Sprintf(format, args...)
	}
	c.Rest = nil
}

// Uvarint returns the number that b begins with, as encoding/binary writes it, and how many bytes it has: 0 or less if it is cut off, too
// large, or has more bytes than it needs.
func Uvarint(b []byte) (v uint64, n int) {
	v, n = binary.Uvarint(b)
	if n > 1 && b[n-1] == 0 {
		return 0, 0
	}
	return v, n
}

// Uvarint parses a number as encoding/binary writes it.
func (c *Cursor) Uvarint() uint64 {
	v, n := Uvarint(c.Rest)
	if n <= 0 {
		c.Fail("a number is cut off, too large, or has more bytes than it needs")
		return 0
	}
	c.Rest = c.Rest[n:]
	return v
}

// AtMost is Uvarint for a number that may not exceed limit.
func (c *Cursor) AtMost(limit uint64) uint64 {
	v := c.Uvarint()
	if v > limit {
		c.Fail("%d where at most %d is possible", v, limit)
		return 0
	}
	return v
}

// Int is AtMost for an int; a limit below 0 allows none.
func (c *Cursor) Int(limit int) int {
	if limit < 0 {
		c.Fail("a number where none is possible")
		return 0
	}
	return int(c.AtMost(uint64(limit)))
}

// Varint parses a signed number as encoding/binary writes it, from -limit to limit.
func (c *Cursor) Varint(limit int64) int64 {
	u := c.Uvarint()
	v := int64(u>>1) ^ -int64(u&1)
	if v > limit || v < -limit {
		c.Fail("%d where %d to %d is possible", v, -limit, limit)
		return 0
	}
	return v
}

// Count is Uvarint for the number of things, called what, that take at least size bytes each
// of what follows.
func (c *Cursor) Count(size int, what string) int {
	v := c.AtMost(math.MaxInt64)
	if v > uint64(len(c.Rest)/size) {
		c.Fail("%d %s in %d bytes", v, what, len(c.Rest))
		return 0
	}
	return int(v)
}

// Byte parses a byte.
func (c *Cursor) Byte() byte {
	if len(c.Rest) == 0 {
		c.Fail("it ends early")
		return 0
	}
	b := c.Rest[0]
	c.Rest = c.Rest[1:]
	return b
}

// ByteAtMost parses a byte that may not exceed limit.
func (c *Cursor) ByteAtMost(limit byte) byte {
	b := c.Byte()
	if b > limit {
		c.Fail("%d where at most %d is possible", b, limit)
		return 0
	}
	return b
}

// Uint64 parses a little-endian number of eight bytes.
func (c *Cursor) Uint64() uint64 {
	if b := c.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Bytes returns the next n bytes, which share memory with Rest; nil if there are fewer.
func (c *Cursor) Bytes(n uint64) []byte {
	if n > uint64(len(c.Rest)) {
		c.Fail("it ends early")
		return nil
	}
	b := c.Rest[:n:n]
	c.Rest = c.Rest[n:]
	return b
}

// Copy fills dst with the next bytes.
func (c *Cursor) Copy(dst []byte) { copy(dst, c.Bytes(uint64(len(dst)))) }

// Block returns bytes preceded by their number; they share memory with Rest.
func (c *Cursor) Block() []byte { return c.Bytes(uint64(c.Count(1, "bytes"))) }

// Text parses a string preceded by its length.
func (c *Cursor) Text() string { return string(c.Bytes(uint64(c.Count(1, "bytes of text")))) }

// AppendBlock appends bytes, or a text, after their number.
func AppendBlock[T []byte | string](dst []byte, block T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(block))), block...)
}

// Flags returns the sum of 1, 2, 4 and so on for those of up to eight that are set.
func Flags(set ...bool) (flags byte) {
	for i, on := range set {
		if on {
			flags |= 1 << i
		}
	}
	return flags
}

// ReadAt reads all of b from byte at of r on. The error is io.ErrUnexpectedEOF if r ends before.
func ReadAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}
