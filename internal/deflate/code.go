package deflate

// Code is a canonical prefix code, whose first bit is the lowest one of those that are read.
type Code struct {
	Count   [MaxBits + 1]uint16 // codes of each length
	Symbols [288]uint16         // by length, then by value
	Min     int                 // the least length, 0 if there is no code
	// Complete: each sequence of bits begins with a code.
	Complete bool
}

// Init takes the length of each symbol's code, 0 for none. It returns false if there is no such code, because it would have too many short
// ones.
func (c *Code) Init(lengths []uint8) bool {
	c.Count = [MaxBits + 1]uint16{}
	for _, n := range lengths {
		c.Count[n&MaxBits]++
	}
	c.Count[0] = 0
	var next [MaxBits + 1]uint16
	left, used := 1, uint16(0)
	c.Min = 0
	for n := 1; n <= MaxBits; n++ {
		k := c.Count[n]
		left = left<<1 - int(k)
		if left < 0 {
			return false
		}
		next[n] = used
		if used += k; k > 0 && c.Min == 0 {
			c.Min = n
		}
	}
	for i, n := range lengths {
		if n != 0 {
			c.Symbols[next[n&MaxBits]] = uint16(i)
			next[n&MaxBits]++
		}
	}
	c.Complete = left == 0
	return true
}

// InitBlock is Init for a code of a block, which is complete, empty, or a single one of one bit; else it returns false, too.
func (c *Code) InitBlock(lengths []uint8) bool {
	sound := c.Init(lengths)
	only := c.Count
	only[1] = 0
	return sound && (c.Complete || only == [MaxBits + 1]uint16{})
}

// Read returns the symbol whose code the bits begin with, and the code's length; 0 if no
// code of at most avail bits matches, and then whether more bits might do.
func (c *Code) Read(v uint64, avail int) (symbol, n int, more bool) {
	code, first, index := 0, 0, 0
	for n := 1; n <= MaxBits; n++ {
		if n > avail {
			return 0, 0, c.Complete || n <= c.Min // if it is not complete, no code has more than Min bits
		}
		code |= int(v & 1)
		v >>= 1
		k := int(c.Count[n])
		if code-first < k {
			return int(c.Symbols[index+code-first]), n, false
		}
		index += k
		first = (first + k) << 1
		code <<= 1
	}
	return 0, 0, false
}

// Each calls set with each symbol, its code and the length of that, in the order of codes.
func (c *Code) Each(set func(symbol, code, n int)) {
	code, index := 0, 0
	for n := 1; n <= MaxBits; n++ {
		for range c.Count[n] {
			set(int(c.Symbols[index]), code, n)
			index++
			code = Next(code, n)
		}
	}
}

// Next returns the code that follows another of the same length, n bits. A longer code that follows has zeros in its further bits.
func Next(code, n int) int {
	bit := 1 << (n - 1)
	for code&bit != 0 {
		code ^= bit
		bit >>= 1
	}
	return code | bit
}

// Fill fills a table of 2^k entries, by the next k bits: symbol<<4 | length, 0 for longer codes and where there is none.
func (c *Code) Fill(table []uint16) {
	clear(table)
	c.Each(func(symbol, code, n int) {
		for i := code; i < len(table) && 1<<n <= len(table); i += 1 << n {
			table[i] = uint16(symbol<<4 | n)
		}
	})
}
