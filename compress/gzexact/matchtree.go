package gzexact

import "orcomgo/internal/deflate"

// matchTree has a binary tree of places for each hash of four bytes. Each place is above those before it; on its left are places whose text
// comes before that of the place in the order of bytes, on its right the others. So the way down from the last place to where the text of
// a new one belongs passes the places whose text is most like it, and the trees left and right of this way become those of the new place.
type matchTree struct {
	text   []byte
	first  int // this place has the hash 0
	tops   [1 << 16]int32
	last   [1 << 16][2]int32 // the last two places with a hash of three bytes
	places [windowSize][2]int32
}

// begin forgets all places.
func (m *matchTree) begin(text []byte, first int) {
	m.text, m.first = text, first
	for i := range m.tops {
		m.tops[i], m.last[i] = noPlace, [2]int32{noPlace, noPlace}
	}
}

// rebase goes on in another text, in which what was at place n is at n - by.
func (m *matchTree) rebase(text []byte, by int) {
	m.text, m.first = text, m.first-by
	for i := range m.tops {
		m.tops[i] = max(m.tops[i]-int32(by), noPlace)
		for j, p := range m.last[i] {
			m.last[i][j] = max(p-int32(by), noPlace)
		}
	}
	for i, pair := range m.places {
		for j, p := range pair {
			m.places[i][j] = max(p-int32(by), noPlace)
		}
	}
}

// find adds a place, and appends its matches to some, unless they are nil: of each length up to most the nearest, if it is longer than those
// that are nearer. A match of the length nice is the last one. No more than depth places are compared.
func (m *matchTree) find(place, most, nice, depth int, matches []token) []token {
	text, limit, note := m.text, place-windowSize, matches != nil
	hash3, hash4 := uint32(0), uint32(0)
	v := deflate.Load32(text, place)
	if place != m.first {
		hash3, hash4 = multiplied(v&0xffffff, 16), multiplied(v, 16)
	}
	last, node := &m.last[hash3], int(m.tops[hash4])
	m.tops[hash4] = int32(place)
	if note {
		for _, p := range last {
			if int(p) <= limit {
				break
			} else if (deflate.Load32(text, int(p))^v)&0xffffff == 0 {
				matches = append(matches, match(minMatch, place-int(p)))
				break
			}
		}
	}
	last[0], last[1] = int32(place), last[0]

	longest := minMatch
	at := &m.places[place&(windowSize-1)]
	left, right := &at[0], &at[1]
	for n, nLeft, nRight := 0, 0, 0; node > limit && depth > 0; depth-- {
		below := &m.places[node&(windowSize-1)]
		if text[node+n] == text[place+n] {
			n += matchLength(text, node+n, place+n, most-n)
			if note && n > longest {
				longest = n
				matches = append(matches, match(n, place-node))
			}
			if n >= nice {
				*left, *right = below[0], below[1]
				return matches
			}
		}
		if text[node+n] < text[place+n] {
			*left, left, nLeft = int32(node), &below[1], n
			node = int(*left)
		} else {
			*right, right, nRight = int32(node), &below[0], n
			node = int(*right)
		}
		n = min(nLeft, nRight)
	}
	*left, *right = noPlace, noPlace
	return matches
}
