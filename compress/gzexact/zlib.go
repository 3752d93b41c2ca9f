package gzexact

import (
	"orcomgo/compress/rangecoder"
	"orcomgo/internal/deflate"
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
	zlibMaxDist = windowSize - aheadBytes
	tooFar      = 4096 // a match of 3 bytes at a greater distance is not taken by lazy levels
	aheadBytes  = maxMatch + minMatch + 1
	gzipLast    = 2*windowSize - aheadBytes // in the window
)

// zlib predicts the writers of zlib, and gzip: matches are found in chains of places whose three bytes have the same hash. Without a level
// there are none.
type zlib struct {
	writer
	zlibLevel
	chains
	lazyMatching bool
	wide         bool // hashes have 16 bits, not 15
	most         int  // tokens of a block
	head         [1 << 16]int32
	origin       int // where the text begins that is known. This place is in no chain: zlib has no number for the first place
	last         int // the last place where a match is looked for

	known, knownNext     bool // whether the match at the next token is known already, and the one behind it
	length, dist         int
	nextLength, nextDist int

	trees zlibTree
}

func newZlib(w writer) *zlib {
	z := &zlib{writer: w, zlibLevel: zlibLevels[w.level], lazyMatching: w.level > 3, wide: w.rules == zlibBlocks32K, most: 1<<14 - 1}
	if w.rules == zlibBlocks32K || w.rules == gzipBlocks && w.level > 0 {
		z.most = 1<<15 - 1
	}
	if z.lazyMatching { // others put few places into chains
		z.places = z.chain
	}
	return z
}

func (z *zlib) begin(text []byte, from, to int) {
	z.chains.begin(text, from, to, z.head[:])
	z.origin, z.known, z.knownNext = from, false, false
	z.hash(to)
}

// rebase continues in another text, in which what was at place n is at place n - by, a multiple of windowSize.
func (z *zlib) rebase(text []byte, by int) {
	rebase(by, z.head[:])
	z.text, z.at, z.hashed, z.origin, z.end, z.last = text, z.at-by, z.hashed-by, z.origin-by, z.end-by, z.last-by
}

func (z *zlib) segment(end int) {
	fresh := z.at == z.end // the writer has flushed
	z.end = end
	switch {
	case !fresh:
		z.hash(z.at)
	case z.rules == aloneBlocks:
		z.begin(z.text, z.at, z.at)
	case z.rules == pigzBlocks:
		z.begin(z.text, max(z.origin, z.at-windowSize), z.at)
	default: // the last two places of a segment are hashed with the first bytes of the next one
		z.hashed = min(z.hashed, max(z.at-(minMatch-1), z.origin+1))
		z.hash(z.at)
	}
	z.end, z.last = end, end-minMatch
	// gzip looks for no match near the end of its window of 64 KiB, which it moves by half of it when it is there and wants to read.
	if at := (end-z.origin-1)%windowSize + 1 + windowSize; z.rules == gzipBlocks && end-z.origin > windowSize && at < 2*windowSize-1 {
		z.last = min(z.last, end-at+gzipLast)
	}
}

func (z *zlib) ends(tokens []token) bool {
	n := len(tokens)
	if z.at >= z.end || n >= z.most {
		return true
	}
	if z.rules != gzipBlocks || n&0xfff > 0 || n == 0 || z.level <= 2 {
		return false
	}
	matches := 0
	for _, t := range tokens {
		matches += rangecoder.BitOf(t.isMatch())
	}
	if matches >= n/2 {
		return false
	}
	bits, in := 8*n+5*matches, rangecoder.BitOf(z.lazyMatching)-tokens[n-1].size() // in will be the place that gzip has reached then
	for _, t := range tokens {
		in += t.size()
		if t.isMatch() {
			bits += int(deflate.DistExtra[distSymbol(t.dist())])
		}
	}
	return bits/8 < in/2
}

// hash puts the places up to the given one into the chains, but for the last ones of the segment.
func (z *zlib) hash(to int) {
	if z.level == 0 {
		return
	}
	if z.end >= z.at {
		to = min(to, z.end-minMatch+1)
	}
	text, wide, place := z.text, z.wide, z.hashed
	for ; place < to; place++ {
		z.link(&z.head[hashOf(text, place, wide)], place)
	}
	z.hashed = place
}

// hashOf returns the hash of the three bytes at a place.
func hashOf(text []byte, place int, wide bool) uint16 {
	v := deflate.Load32(text, place)
	if wide {
		return uint16(v<<12 ^ v>>2&0x3fc0 ^ v>>16&0xff)
	}
	return uint16(v<<10^v>>3&0x1fe0^v>>16&0xff) & (1<<15 - 1)
}

// insert puts a place at the head of the chain of places whose three bytes have the same hash, and returns the place that was there.
func (z *zlib) insert(place int) int {
	return z.link(&z.head[hashOf(z.text, place, z.wide)], place)
}

func (z *zlib) next() token {
	here := literal(z.text[z.at])
	if z.level == 0 {
		return here
	}
	if !z.known {
		z.length, z.dist = z.find(z.at, minMatch-1)
		z.known = true
	}
	if z.length < minMatch {
		return here
	}
	if z.lazyMatching {
		z.nextLength = minMatch - 1
		if z.length < z.lazy {
			z.nextLength, z.nextDist = z.find(z.at+1, z.length)
		}
		if z.nextLength > z.length {
			z.knownNext = true
			return here
		}
	}
	return match(z.length, z.dist)
}

// find looks for a match at a place that is longer than least, and puts the place into its chain. It returns least, or less, if there is
// none.
func (z *zlib) find(place, least int) (length, dist int) {
	if place > z.last {
		return minMatch - 1, 0
	}
	var last int
	if z.hashed == place {
		last = z.insert(place)
		z.hashed++
	} else {
		last = z.previous(place)
	}
	if place-last > zlibMaxDist {
		return minMatch - 1, 0
	}
	chain := z.chain
	if least >= z.good {
		chain >>= 2
	}
	length, dist = z.search(place, last, least, place-zlibMaxDist, chain, z.nice)
	if z.lazyMatching && length == minMatch && dist > tooFar {
		length = minMatch - 1
	}
	return length, dist
}

func (z *zlib) accept(t token) {
	z.at += t.size()
	if !t.isMatch() {
		z.known, z.knownNext = z.knownNext, false
		z.length, z.dist = z.nextLength, z.nextDist
	} else {
		z.known, z.knownNext = false, false
		z.move(t.size())
		if z.lazyMatching || (t.size() <= z.lazy || t.size() > maxMatch) && z.end-z.at >= minMatch { // or a stored block
			z.hash(z.at)
		}
	}
	if !z.lazyMatching {
		z.hashed = z.at
	}
}

// move notes that a match of so many bytes was taken, behind which gzip may move its window, as it wants to read.
func (z *zlib) move(size int) {
	if z.at >= z.last && z.at-size+rangecoder.BitOf(z.lazyMatching) <= z.end-aheadBytes {
		z.last = z.end - minMatch
	}
}

// follow is the function of that name in one loop, which confirms the tokens that actual has where that is faster than choosing them.
func (z *zlib) follow(tokens, actual []token, n, limit int) []token {
	for len(tokens) < n && z.at < limit {
		if (len(tokens)+1)&0xffe == 0 && z.ends(tokens) { // it does nowhere else, before the end of the segment
			break
		}
		if actual == nil && z.lazyMatching {
			t := z.next()
			z.accept(t)
			tokens = append(tokens, t)
			continue
		}
		at := z.at
		t, last, sure := literal(z.text[at]), noPlace, false
		if at <= z.last && z.hashed == at {
			last = z.insert(at)
			z.hashed++
			sure = actual != nil && z.confirm(actual[len(tokens)], last)
		}
		if sure {
			t = actual[len(tokens)]
		} else if z.lazyMatching {
			t = z.next()
		} else if at-last <= zlibMaxDist {
			if length, dist := z.search(at, last, minMatch-1, at-zlibMaxDist, z.chain, z.nice); length >= minMatch {
				t = match(length, dist)
			}
		}
		if actual != nil && t != actual[len(tokens)] {
			break
		}
		tokens = append(tokens, t)
		if z.lazyMatching {
			z.accept(t)
			continue
		}
		if z.at += t.size(); t.isMatch() {
			if z.move(t.size()); t.size() <= z.lazy && z.at <= z.end-minMatch {
				z.hash(z.at)
			}
		}
		z.hashed = z.at
	}
	return tokens
}

// confirm reports whether the writer is sure to choose a match of the file, given the last place in the chain: none that is compared
// earlier has a match of that length, and none later a longer one. To see that takes less time than to look for the match.
func (z *zlib) confirm(t token, last int) bool {
	text, at, length := z.text, z.at, t.value()
	if !t.isMatch() || z.lazyMatching && length == minMatch || z.longer != nil {
		return false
	}
	near, limit, chain, next := at-t.dist(), at-zlibMaxDist, z.chain, z.previous(last)
	most := min(maxMatch, z.end-at)
	least := min(length, z.nice, most)
	skip, mask := max(least-7, 0), ^uint64(0)>>(max(7-least, 0)&7*8)
	want := deflate.Load64(text, at+skip)
	for ; last > near; last, next = next, z.after(last, next) {
		if chain--; (deflate.Load64(text, last+skip)^want)&(mask>>8) == 0 || chain == 0 {
			return false
		}
	}
	if last != near || last <= limit {
		return false
	} else if length > least || length == min(z.nice, most) {
		return length == most || text[at+length] != text[near+length]
	}
	for ; last > limit && chain > 0; chain-- {
		if (deflate.Load64(text, last+skip)^want)&mask == 0 {
			return false
		}
		last, next = next, z.after(last, next)
	}
	if z.lazyMatching && length < z.lazy {
		longer, _ := z.find(at+1, length)
		return longer <= length
	}
	return true
}

func (z *zlib) plan(tokens []token, as *block) { as.plan(tokens, &z.trees, deflate.MaxBits, false, 8) }
