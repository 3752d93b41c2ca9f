package bins

import "encoding/binary"

// cursor takes numbers and bytes off a slice; once it runs out, bad stays set and all it
// gives is zero.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.bad, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return v
}

// atMost is uvarint for a number that may not exceed limit.
func (c *cursor) atMost(limit uint64) uint64 {
	v := c.uvarint()
	if v > limit {
		c.bad, c.b = true, nil
		return 0
	}
	return v
}

// count is uvarint for a number of things that take at least size bytes each of what follows.
func (c *cursor) count(size int) int {
	return int(c.atMost(uint64(len(c.b) / size)))
}

func (c *cursor) byte() byte {
	if b := c.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// bytes returns the next n bytes, which share memory with the slice; nil if there are fewer.
func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.bad, c.b = true, nil
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

// text returns a string preceded by its length.
func (c *cursor) text() string { return string(c.bytes(c.uvarint())) }

// done reports whether everything was there and nothing is left.
func (c *cursor) done() bool { return !c.bad && len(c.b) == 0 }
