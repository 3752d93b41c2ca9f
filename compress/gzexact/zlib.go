package gzexact

import (
	"encoding/binary"
	"math/bits"
)

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
	head         []int32
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
	n     counts
}

func newZlib(w writer) *zlib {
	z := &zlib{writer: w, zlibLevel: zlibLevels[w.level], lazyMatching: w.level > 3, shift: 5}
	if w.rules == zlibBlocks32K {
		z.shift = 6
	}
	z.head = make([]int32, 1<<(15+z.shift-5))
	return z
}

// noPlace is further before all places than matches reach.
const noPlace = -1 << 20

func (z *zlib) begin(text []byte, from, to int) {
	z.text, z.at, z.hashed, z.origin = text, to, from, from
	z.known, z.knownNext = false, false
	for i := range z.head {
		z.head[i] = noPlace
	}
	if z.level > 0 {
		z.hash(min(to, len(text)-minMatch+1))
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
	case !fresh:
	case z.rules == pigzBlocks:
		z.begin(z.text, max(z.origin, z.at-windowSize), z.at)
	case z.level > 0: // the last two places of a segment are hashed with the first bytes of the next one
		z.hashed = min(z.hashed, max(z.at-(minMatch-1), 0))
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

// hashOf returns the hash of the three bytes at a place.
func (z *zlib) hashOf(place int) uint32 {
	t := z.text[place : place+3 : place+3]
	return (uint32(t[0])<<(2*z.shift) ^ uint32(t[1])<<z.shift ^ uint32(t[2])) & uint32(len(z.head)-1)
}

// hash puts the places up to the given one into the chains.
func (z *zlib) hash(to int) {
	for p := z.hashed; p < to; p++ {
		z.insert(p)
	}
	z.hashed = max(z.hashed, to)
}

// insert puts a place at the head of its chain, and returns the place that was there.
func (z *zlib) insert(place int) int {
	h := z.hashOf(place)
	last := int(z.head[h])
	z.before[place&(windowSize-1)] = uint16(min(place-last, 0xffff))
	if place != z.origin {
		z.head[h] = int32(place)
	}
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

// find looks for a match at a place that is longer than least, and puts the place into its chain. It returns least, or less, if there is none.
func (z *zlib) find(place, least int) (length, dist int) {
	if z.end-place < minMatch {
		return minMatch - 1, 0
	}
	last := place - int(z.before[place&(windowSize-1)])
	if z.hashed == place {
		last = z.insert(place)
		z.hashed++
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

// search goes through a chain, from the place last on, and returns the first match of those of the greatest length, if it is longer than least.
func (z *zlib) search(place, last, least, chain int) (length, dist int) {
	text := z.text
	most := min(maxMatch, z.end-place)
	if least >= most {
		return least, 0
	}
	nice := min(z.nice, most)
	here := text[place : place+most]
	limit := place - zlibMaxDist
	// A longer match has the same bytes up to the one behind the length so far. The last four of these are compared first.
	skip, mask := max(least-3, 0), ^uint32(0)
	if least < 3 {
		mask = 0xffffff
	}
	want := binary.LittleEndian.Uint32(text[place+skip:])
	for {
		if (binary.LittleEndian.Uint32(text[last+skip:])^want)&mask == 0 {
			if n := matchLength(text[last:], here); n > least {
				least, dist = n, place-last
				if n >= nice {
					break
				}
				skip, mask = least-3, ^uint32(0)
				want = binary.LittleEndian.Uint32(text[place+skip:])
			}
		}
		last -= int(z.before[last&(windowSize-1)])
		chain--
		if last <= limit || chain == 0 {
			break
		}
	}
	return least, dist
}

// matchLength returns how many bytes of a and b are equal, up to the end of b; a is longer.
func matchLength(a, b []byte) int {
	n := 0
	a = a[:len(b)]
	for ; n+8 <= len(b); n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)>>3
		}
	}
	for ; n < len(b) && a[n] == b[n]; n++ {
	}
	return n
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
		z.outBits += 5 + distExtra(distSymbol(t.dist()))
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
	z.n.count(b.tokens)
	dynamic, static := as.codes.build(&z.n, &z.trees, maxCodeBits, false)
	as.kind = dynamicBlock
	if (static+3+7)/8 <= (dynamic+3+7)/8 {
		as.kind = staticBlock
	}
}
