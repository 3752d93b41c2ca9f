//go:build !race && !inflate_checked

package inflate

import "unsafe"

// hasPairs reports whether two members are decoded at once.
func hasPairs() bool { return hasBMI2 }

// pairState is what fastPair begins with in one of its streams, and where it ends.
type pairState struct {
	in, out       unsafe.Pointer
	bit           int    // of in: the next one
	last          int    // of in: the last byte from which on there is enough for two rounds
	n, limit, low int    // of out; see decoder
	ended         uint64 // 1 behind the end of the block
}

func (d *decoder) pairState() pairState {
	return pairState{
		in: unsafe.Pointer(unsafe.SliceData(d.in)), out: unsafe.Pointer(unsafe.SliceData(d.out)),
		bit: d.bit, last: len(d.in) - pairInput + 7, n: d.n, limit: d.limit, low: d.low,
	}
}

// decodePair decodes to bytes in the blocks of two decoders, whose own tables are used and follow each other in memory, until one of
// them has no more room, hardly any input, or is at the end of its block. It returns false if it found something invalid. Then the
// decoders are where they were.
func decodePair(a, b *decoder) (valid bool) {
	s := [2]pairState{a.pairState(), b.pairState()}
	both := (*[2]tables)(unsafe.Pointer(a.own))
	if &both[1] != b.own {
		panic("inflate: the tables of two decoders are not next to each other")
	}
	if !fastPair(&s, both) {
		return false
	}
	for i, d := range [2]*decoder{a, b} {
		d.bit, d.n = s[i].bit, s[i].n
		if s[i].ended == 1 {
			d.place = atBlock
		}
	}
	return true
}

// fastPair decodes in two streams. It stops when one of them is at the end of its block, or has no room or input for two rounds. It
// returns false if it found something invalid, and has not changed the states then, but bytes behind those that were decoded.
//
//go:noescape
func fastPair(s *[2]pairState, tables *[2]tables) bool
