//go:build !race && !inflate_checked

package inflate

import "unsafe"

// hasPairs reports whether two members are decoded at once.
func hasPairs() bool { return hasBMI2 }

// decodePair decodes to bytes in the blocks of two decoders, whose own tables are used and follow each other in memory, until one of
// them has no more room, hardly any input, or is at the end of its block. It returns false if it found something invalid. Then the
// decoders are where they were.
func decodePair(a, b *decoder) (valid bool) {
	s := [2]fastState{*a.fastState(), *b.fastState()}
	s[0].limit, s[1].limit = a.limit, b.limit
	if unsafe.Add(s[0].tables, unsafe.Sizeof(tables{})) != s[1].tables {
		panic("inflate: the tables of two decoders are not next to each other")
	}
	if !fastPair(&s) {
		return false
	}
	a.follows(&s[0])
	b.follows(&s[1])
	return true
}

// fastPair is fastBytes for two streams. It stops when one of them does. It returns false if it found something invalid, and
// has not changed the states then, but bytes behind those that were decoded.
//
//go:noescape
func fastPair(s *[2]fastState) bool
