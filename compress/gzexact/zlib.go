package gzexact

import "math/bits"

// zlibLevel are the limits of a level: of zlib and gzip the same.
type zlibLevel struct {
	good  int // after a match of this length only a quarter of the chain is searched
	lazy  int // after a match of this length none is looked for; for fast levels: of longer matches no further place is hashed
	nice  int // a match of this length is taken at once
	chain int // how many places are compared
}

var zlibLevels = [10]zlibLevel{
	{}, {4, 4, 8, 4}, {4, 5, 16, 8}, {4, 6, 32, 32}, // fast: the first match that is found is taken
	{4, 4, 16, 16}, {8, 16, 32, 32}, {8, 16, 128, 128}, {8, 32, 128, 256}, {32, 128, 258, 1024}, {32, 258, 258, 4096},
}

const (
	zlibMaxDist = windowSize - (maxMatch + minMatch + 1)
	tooFar      = 4096 // a match of 3 bytes at a greater distance is not taken by lazy levels
)

// zlib predicts the writers of zlib, and gzip: matches are found in chains of places whose three bytes have the same hash.
type zlib struct {
	writer
	zlibLevel
	lazyMatching bool
	text         []byte
	shift        uint // of the hash
	head         [1 << 16]int32
	mask         uint32             // of the hash
	before       [windowSize]uint16 // for each place how far before it the one with the same hash is, or the most that fits
	at           int                // of the next token
	hashed       int                // places before it are in the chains
	origin       int                // this place is in no chain: zlib has no number for the first place
	end          int                // of the segment

	known, knownNext         bool // whether the match at the next token is known already, and the one behind it
	length, dist             int
	nextLength, nextDist     int
	tokens, matches, outBits int // of the block so far
	blockStart, lastToken    int

	trees zlibTree
}

func newZlib(w writer) *zlib {
	z := &zlib{writer: w, zlibLevel: zlibLevels[w.level], lazyMatching: w.level > 3, shift: 5, mask: 1<<15 - 1}
	if w.rules == zlibBlocks32K {
		z.shift, z.mask = 6, 1<<16-1
	}
	return z
}

// noPlace is further before all places than matches reach.
const noPlace = -1 << 20

func (z *zlib) begin(text []byte, from, to int) {
	z.text, z.at, z.hashed, z.origin = text, to, from+1, from
	z.known, z.knownNext = false, false
	for i := range z.head {
		z.head[i] = noPlace
	}
	z.before[from&(windowSize-1)] = 0xffff // the first place is not in the chains: zlib has no number for it
	if z.level > 0 {
		z.hash(to)
	}
}

func (z *zlib) rebase(text []byte, by int) {
	z.text = text
	for i, h := range z.head {
		z.head[i] = max(h-int32(by), noPlace)
	}
	var moved [windowSize]uint16
	for i := range moved {
		moved[i] = z.before[(i+by)%windowSize]
	}
	z.before = moved
	z.at, z.hashed, z.origin, z.blockStart, z.lastToken = z.at-by, z.hashed-by, z.origin-by, z.blockStart-by, z.lastToken-by
}

func (z *zlib) segment(end int, fresh bool) {
	switch {
	case !fresh && z.level > 0:
		z.hash(z.at)
	case z.rules == pigzBlocks:
		z.begin(z.text, max(z.origin, z.at-windowSize), z.at)
	case z.level > 0: // the last two places of a segment are hashed with the first bytes of the next one
		z.hashed = min(z.hashed, max(z.at-(minMatch-1), z.origin+1))
		z.hash(min(z.at, end-minMatch+1))
	}
	z.end = end
}

func (z *zlib) block() { z.tokens, z.matches, z.outBits, z.blockStart = 0, 0, 0, z.at }

func (z *zlib) ends() bool {
	if z.at >= z.end {
		return true
	}
	switch z.rules {
	case zlibBlocks16K, pigzBlocks:
		return z.tokens >= 1<<14-1
	case zlibBlocks32K:
		return z.tokens >= 1<<15-1
	}
	if z.tokens&0xfff == 0 && z.tokens > 0 && z.level > 2 && z.matches < z.tokens/2 {
		in := z.lastToken - z.blockStart // the place that gzip has reached then
		if z.lazyMatching {
			in++
		}
		return z.outBits/8 < in/2
	}
	return z.tokens >= 1<<15-1
}

// hash puts the places up to the given one into the chains.
func (z *zlib) hash(to int) {
	for ; z.hashed < to; z.hashed++ {
		z.insert(z.hashed)
	}
}

// insert puts a place at the head of the chain of places whose three bytes have the same hash, and returns the place that was there.
func (z *zlib) insert(place int) int {
	v := load32(z.text, place)
	head := &z.head[uint16((v&0xff<<(2*z.shift&31)^v>>8&0xff<<(z.shift&31)^v>>16&0xff)&z.mask)]
	last := int(*head)
	z.before[place&(windowSize-1)] = uint16(min(place-last, 0xffff))
	*head = int32(place)
	return last
}

func (z *zlib) next() token {
	if z.level == 0 {
		return literal(z.text[z.at])
	}
	if !z.known {
		z.length, z.dist = z.find(z.at, minMatch-1)
		z.known = true
	}
	if z.length < minMatch {
		return literal(z.text[z.at])
	}
	if z.lazyMatching {
		z.nextLength = minMatch - 1
		if z.length < z.lazy {
			z.nextLength, z.nextDist = z.find(z.at+1, z.length)
		}
		if z.nextLength > z.length {
			z.knownNext = true
			return literal(z.text[z.at])
		}
	}
	return match(z.length, z.dist)
}

// find looks for a match at a place that is longer than least, and puts the place into its chain. It returns least, or less, if there is
// none.
func (z *zlib) find(place, least int) (length, dist int) {
	if z.end-place < minMatch {
		return minMatch - 1, 0
	}
	var last int
	if z.hashed == place {
		last = z.insert(place)
		z.hashed++
	} else {
		last = place - int(z.before[place&(windowSize-1)])
	}
	if place-last > zlibMaxDist {
		return minMatch - 1, 0
	}
	chain := z.chain
	if least >= z.good {
		chain >>= 2
	}
	length, dist = z.search(place, last, least, chain)
	if z.lazyMatching && length == minMatch && dist > tooFar {
		length = minMatch - 1
	}
	return length, dist
}

// search goes through a chain, from the place last on, and returns the first match of those of the greatest length, if it is longer than
// least.
func (z *zlib) search(place, last, least, chain int) (length, dist int) {
	text := z.text
	most := min(maxMatch, z.end-place)
	if least >= most {
		return least, 0
	}
	nice := min(z.nice, most)
	limit := place - zlibMaxDist
	// A longer match has the same bytes up to the one behind the length so far. The last four of these are compared first.
	skip, mask := max(least-3, 0), ^uint32(0)
	if least < 3 {
		mask = 0xffffff
	}
	want := load32(text, place+skip) & mask
	for {
		if last, chain = candidate(text[skip:], &z.before, last, limit, chain, want, mask); chain == 0 {
			break
		}
		if n := matchLength(text, last, place, most); n > least {
			least, dist = n, place-last
			if n >= nice {
				break
			}
			skip, mask = least-3, ^uint32(0)
			want = load32(text, place+skip)
		}
		last -= int(z.before[last&(windowSize-1)])
		if chain--; last <= limit || chain == 0 {
			break
		}
	}
	return least, dist
}

// candidate goes along a chain from the place last on, to the first place whose four bytes are want but for those outside of mask. It
// returns the place, and how long the chain still is; 0 if there is none.
func candidate(text []byte, before *[windowSize]uint16, last, limit, chain int, want, mask uint32) (place, left int) {
	for load32(text, last)&mask != want {
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
		if x := load64(text, a+n) ^ load64(text, b+n); x != 0 {
			return min(n+bits.TrailingZeros64(x)>>3, most)
		}
	}
	return most
}

func (z *zlib) accept(t token) {
	z.lastToken = z.at
	z.tokens++
	z.outBits += 8
	if !t.isMatch() {
		z.at++
		z.known = z.knownNext
		z.length, z.dist = z.nextLength, z.nextDist
	} else {
		z.matches++
		if z.rules == gzipBlocks {
			z.outBits += 5 + distExtra(distSymbol(t.dist()))
		}
		z.at += t.size()
		switch {
		case z.level == 0:
		case z.lazyMatching:
			z.hash(min(z.at, z.end-minMatch+1))
		case t.size() <= z.lazy && z.end-z.at >= minMatch:
			z.hash(z.at)
		default:
			z.hashed = z.at
		}
		z.known = false
	}
	if !z.lazyMatching {
		z.hashed = max(z.hashed, z.at)
	}
	z.knownNext = false
}

func (z *zlib) plan(b *block, as *block) {
	dynamic, static := as.codes.build(b.tokens, &z.trees, maxCodeBits, false)
	as.kind = dynamicBlock
	if (static+3+7)/8 <= (dynamic+3+7)/8 {
		as.kind = staticBlock
	}
}
