package gzexact

import (
	"math/bits"

	"orcomgo/internal/deflate"
)

// chains are places with the same hash, from each to the one before. They are what zlib and libdeflate look for matches in.
type chains struct {
	text   []byte
	before [windowSize]uint32 // for each place how far before it the one with the same hash is, or 2^16-1; above 16 bits the same of that one
	rank   [windowSize]uint16 // for each place how many there are in its chain up to it, modulo 2^16
	longer []longChains       // the longest first, or none
	places int                // how many of a chain are compared, at most; 0 if longer is not to be there
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
	forget(heads...)
	if c.longer == nil && len(text) >= longText {
		c.longer = newLongChains(c.places)
	}
	for i := range c.longer {
		forget(c.longer[i].head[:])
		c.longer[i].hashed = c.hashed
	}
}

// forget sets tables of places to noPlace.
func forget(tables ...[]int32) {
	for _, t := range tables {
		for i := range t {
			t[i] = noPlace
		}
	}
}

// rebase makes tables of places n those of places n - by.
func rebase(by int, tables ...[]int32) {
	for _, t := range tables {
		for i, p := range t {
			t[i] = max(p-int32(by), noPlace)
		}
	}
}

func (c *chains) place() int { return c.at }

// link puts a place at the head of its chain.
func (c *chains) link(head *int32, place int) (last int) {
	last = int(*head)
	c.before[place&(windowSize-1)] = uint32(min(place-last, 0xffff)) | c.before[last&(windowSize-1)]<<16
	if c.longer != nil {
		c.rank[place&(windowSize-1)] = c.rank[last&(windowSize-1)] + 1
	}
	*head = int32(place)
	return last
}

// previous returns the place before another one in its chain.
func (c *chains) previous(place int) int { return place - int(c.before[place&(windowSize-1)]&0xffff) }

// after returns the place before next, which is the one before last. Since it does not wait for what is loaded of next, two loads overlap.
func (c *chains) after(last, next int) int { return next - int(c.before[last&(windowSize-1)]>>16) }

// search goes through a chain, from the place last on, which is near enough, as long as places are behind limit. It returns the first match
// of those of the greatest length, if it is longer than least. A match of the length nice is taken at once.
func (c *chains) search(place, last, least, limit, chain, nice int) (length, dist int) {
	text := c.text
	most := min(maxMatch, c.end-place)
	if least >= most {
		return least, 0
	}
	nice = min(nice, most)
	for i := range c.longer {
		l := &c.longer[i]
		if l.bytes > nice {
			continue
		}
		length, dist := c.searchLonger(l, place, last, max(least, l.bytes-1), limit, chain, nice, most)
		if dist > 0 || least >= l.bytes-1 {
			return length, dist
		}
	}
	// A longer match has the same bytes up to the one behind the length so far. The last four of these are compared first.
	skip, mask := max(least-3, 0), ^uint32(0)
	if least < 3 {
		mask = 0xffffff
	}
	want := deflate.Load32(text, place+skip) & mask
	for next := c.previous(last); ; {
		if deflate.Load32(text, last+skip)&mask == want {
			if n := matchLength(text, last, place, most); n > least {
				if least, dist = n, place-last; n >= nice {
					break
				}
				skip, mask = least-3, ^uint32(0)
				want = deflate.Load32(text, place+skip)
			}
		}
		last, next = next, c.after(last, next)
		if chain--; last <= limit || chain == 0 {
			break
		}
	}
	return least, dist
}

// longChains are chains of places with the same hash of more bytes: of the places of a chain, those where a match may be longer. They are
// few, so a long match is found soon. Each has the rank of the place in its chain, which says whether the writer would have reached it.
type longChains struct {
	bytes  int                // 6 or more
	head   [1 << 15]int32     // the last place with a hash
	before [windowSize]uint32 // for each place how far before it the one with the same hash is, as in chains, and above 16 bits its rank
	hashed int                // places before it are there
}

// longText is how many bytes of text longChains pay for: to try all writers on less would take much memory.
const longText = 128 << 10

// newLongChains returns those that pay if chains have so many places.
func newLongChains(chain int) []longChains {
	switch {
	case chain < 64:
		return nil
	case chain < 1000:
		return []longChains{{bytes: 6}}
	}
	return []longChains{{bytes: 12}, {bytes: 6}}
}

func (l *longChains) hash(text []byte, place int) uint64 {
	const factor = 0x9e3779b97f4a7c15
	return (deflate.Load64(text, place)<<16 ^ uint64(deflate.Load32(text, place+l.bytes-4))*factor) * factor >> (64 - 15)
}

// searchLonger is search for matches of l.bytes to most bytes: least is l.bytes-1 or more.
func (c *chains) searchLonger(l *longChains, place, last, least, limit, chain, nice, most int) (length, dist int) {
	text := c.text
	for ; l.hashed < place; l.hashed++ {
		head := &l.head[l.hash(text, l.hashed)]
		l.before[l.hashed&(windowSize-1)] = uint32(min(l.hashed-int(*head), 0xffff)) | uint32(c.rank[l.hashed&(windowSize-1)])<<16
		*head = int32(l.hashed)
	}
	rank, begin := c.rank[last&(windowSize-1)], deflate.Load32(text, place)
	want := deflate.Load32(text, place+least-3)
	for last = int(l.head[l.hash(text, place)]); last > limit; {
		before := l.before[last&(windowSize-1)]
		if int(rank-uint16(before>>16)) >= chain && deflate.Load32(text, last) == begin {
			break // it is too far back in the chain
		}
		if deflate.Load32(text, last+least-3) == want {
			if n := matchLength(text, last, place, most); n > least {
				if least, dist = n, place-last; n >= nice {
					break
				}
				want = deflate.Load32(text, place+least-3)
			}
		}
		last -= int(before & 0xffff)
	}
	return least, dist
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

// follow appends to tokens, which a block has so far, what the writer would choose and accepts it: up to n tokens of the block, before
// limit, as long as the block would not end. If actual is not nil, it is the block, and follow stops before a token that is another there.
func follow(p predictor, tokens, actual []token, n, limit int) []token {
	if z, ok := p.(*zlib); ok && z.level > 0 {
		return z.follow(tokens, actual, n, limit)
	}
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
