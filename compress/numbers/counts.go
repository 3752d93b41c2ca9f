package numbers

import "math/bits"

// Counts counts how often numbers occurred. Unlike a map it is emptied at no cost.
type Counts struct {
	slots []countSlot
	shift int
	round uint32 // of the slots in use
	room  int    // for further numbers
}

type countSlot struct {
	key   int64
	count int32
	round uint32
}

// Reset forgets all numbers and makes room for n different ones.
func (c *Counts) Reset(n int) {
	logSize := bits.Len(uint(max(n, 1))) + 1
	if c.round++; len(c.slots) < 1<<logSize || c.round == 0 {
		c.slots, c.round = make([]countSlot, 1<<logSize), 1
	}
	// Few numbers are kept next to each other, whatever there was room for before.
	c.shift, c.room = 64-logSize, n
}

// Of returns the count of a number, for the caller to change until the next call of Reset. It panics if there is no room for the number,
// which is an error of the caller.
func (c *Counts) Of(v int64) *int32 {
	mask := uint64(1)<<(64-c.shift&63) - 1
	for at := uint64(v) * 0x9E3779B97F4A7C15 >> (c.shift & 63); ; at = (at + 1) & mask {
		switch s := &c.slots[at]; {
		case s.round != c.round:
			if c.room--; c.room < 0 {
				panic("numbers: more numbers than there is room for")
			}
			*s = countSlot{v, 0, c.round}
			return &s.count
		case s.key == v:
			return &s.count
		}
	}
}
