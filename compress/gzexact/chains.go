package gzexact

import (
	"math/bits"

	"orcomgo/internal/deflate"
)

// chains are places with the same hash, from each to the one before. They are what zlib and libdeflate look for matches in.
type chains struct {
	text   []byte
	before [windowSize]uint16 // for each place how far before it the one with the same hash is, or the most that fits
	at     int                // of the next token
	hashed int                // places before it are in the chains
	end    int                // of the segment
}

// noPlace is further before all places than matches reach.
const noPlace = -1 << 20

// begin is that of predictor. It forgets all places, which are in heads; the first one that the writer knows is in no chain.
func (c *chains) begin(text []byte, from, to int, heads ...[]int32) {
	first := max(from, to-windowSize)
	c.text, c.at, c.hashed, c.end = text, to, first+1, noPlace
	c.before[first&(windowSize-1)] = 0xffff
	for _, h := range heads {
		for i := range h {
			h[i] = noPlace
		}
	}
}

func (c *chains) place() int { return c.at }

// link puts a place at the head of its chain.
func (c *chains) link(head *int32, place int) (last int) {
	last = int(*head)
	c.before[place&(windowSize-1)] = uint16(min(place-last, 0xffff))
	*head = int32(place)
	return last
}

// previous returns the place before another one in its chain.
func (c *chains) previous(place int) int { return place - int(c.before[place&(windowSize-1)]) }

// search goes through a chain, from the place last on, which is near enough, as long as places are behind limit. It returns the first match
// of those of the greatest length, if it is longer than least. A match of the length nice is taken at once.
func (c *chains) search(place, last, least, limit, chain, nice int) (length, dist int) {
	text := c.text
	most := min(maxMatch, c.end-place)
	if least >= most {
		return least, 0
	}
	// A longer match has the same bytes up to the one behind the length so far. The last four of these are compared first.
	skip, mask := max(least-3, 0), ^uint32(0)
	if least < 3 {
		mask = 0xffffff
	}
	want := deflate.Load32(text, place+skip) & mask
	for {
		if last, chain = candidate(text[skip:], &c.before, last, limit, chain, want, mask); chain == 0 {
			break
		}
		if n := matchLength(text, last, place, most); n > least {
			least, dist = n, place-last
			if n >= min(nice, most) {
				break
			}
			skip, mask = least-3, ^uint32(0)
			want = deflate.Load32(text, place+skip)
		}
		last = c.previous(last)
		if chain--; last <= limit || chain == 0 {
			break
		}
	}
	return least, dist
}

// candidate goes along a chain from the place last on, to the first place whose four bytes are want but for those outside of mask. It
// returns the place, and how long the chain still is; 0 if there is none.
func candidate(text []byte, before *[windowSize]uint16, last, limit, chain int, want, mask uint32) (place, left int) {
	for deflate.Load32(text, last)&mask != want {
		last -= int(before[last&(windowSize-1)])
		if chain--; last <= limit || chain == 0 {
			return 0, 0
		}
	}
	return last, chain
}

// matchLength returns how many bytes at places a and b are equal, up to most.
func matchLength(text []byte, a, b, most int) int {
	for n := 0; n < most; n += 8 {
		if x := deflate.Load64(text, a+n) ^ deflate.Load64(text, b+n); x != 0 {
			return min(n+bits.TrailingZeros64(x)>>3, most)
		}
	}
	return most
}

// follow is run, token by token.
func follow(p predictor, tokens, actual []token, n, limit int) []token {
	for len(tokens) < n && p.place() < limit && !p.ends(tokens) {
		t := p.next()
		if actual != nil && t != actual[len(tokens)] {
			break
		}
		p.accept(t)
		tokens = append(tokens, t)
	}
	return tokens
}
