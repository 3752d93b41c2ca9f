package gzexact

import "orcomgo/internal/deflate"

// matchTree has a binary tree of places for each hash of four bytes. Each place is above those before it; on its left are places whose text
// comes before that of the place in the order of bytes, on its right the others. So the way down from the last place to where the text of
// a new one belongs passes the places whose text is most like it, and the trees left and right of this way become those of the new place.
type matchTree struct {
	text    []byte
	first   int // this place has the hash 0
	tops    [1 << 16]int32
	last    [2 << 16]int32        // the last two places with each hash of three bytes
	below   [2 * windowSize]int32 // of each place what is left and right of it
	matches []token
}

// begin forgets all places.
func (m *matchTree) begin(text []byte, first int) {
	m.text, m.first = text, first
	forget(m.tops[:], m.last[:])
}

// rebase goes on in another text, in which what was at place n is at n - by.
func (m *matchTree) rebase(text []byte, by int) {
	m.text, m.first = text, m.first-by
	rebase(by, m.tops[:], m.last[:], m.below[:])
}

// add adds a place. If that is said, it appends to matches those that are longer than all nearer ones, and returns the greatest length.
// One of at least nice bytes is the last. No more than depth places are compared, none beyond most bytes.
func (m *matchTree) add(place, most, nice, depth int, note bool) (longest int) {
	text, limit := m.text, place-windowSize
	hash3, hash4 := uint32(0), uint32(0)
	v := deflate.Load32(text, place)
	if place != m.first {
		hash3, hash4 = multiplied(v&0xffffff, 16), multiplied(v, 16)
	}
	last, node := m.last[2*hash3:2*hash3+2], int(m.tops[hash4])
	for _, p := range last {
		if note && longest == 0 && int(p) > limit && (deflate.Load32(text, int(p))^v)&0xffffff == 0 {
			longest = minMatch
			m.matches = append(m.matches, match(longest, place-int(p)))
		}
	}
	last[0], last[1], m.tops[hash4] = int32(place), last[0], int32(place)

	at := 2 * (place & (windowSize - 1))
	left, right := &m.below[at], &m.below[at+1]
	for n, nLeft, nRight := 0, 0, 0; node > limit && depth > 0; depth-- {
		at = 2 * (node & (windowSize - 1))
		if text[node+n] == text[place+n] {
			n += matchLength(text, node+n, place+n, most-n)
			if note && n > max(longest, minMatch) {
				longest = n
				m.matches = append(m.matches, match(n, place-node))
			}
			if n >= nice {
				*left, *right = m.below[at], m.below[at+1]
				return longest
			}
		}
		if text[node+n] < text[place+n] {
			*left, left, nLeft = int32(node), &m.below[at+1], n
			node = int(*left)
		} else {
			*right, right, nRight = int32(node), &m.below[at], n
			node = int(*right)
		}
		n = min(nLeft, nRight)
	}
	*left, *right = noPlace, noPlace
	return longest
}
