package gzexact

import (
	"math/bits"

	"orcomgo/compress/rangecoder"
	"orcomgo/internal/deflate"
)

// libdeflateLevel are the limits of a level.
type libdeflateLevel struct {
	depth int // how many places of a chain are compared
	nice  int // a match of this length is taken at once
	ahead int // how many places behind a match are looked at for a better one
	least int // the least length of matches is not above this
}

// libdeflateLevels are those of version 1.8 on, and olderLevels those of versions before, as far as they are known.
var (
	libdeflateLevels = [...]libdeflateLevel{
		{}, {2, 32, 0, 4}, {6, 10, 0, 5}, {12, 14, 0, 7}, {16, 30, 0, 9}, {16, 30, 1, 9}, {35, 65, 1, 9}, {100, 130, 1, 9},
		{300, maxMatch, 2, 9}, {600, maxMatch, 2, 9},
	}
	olderLevels = [...]libdeflateLevel{{}, {2, 8, 0, 3}, {6, 10, 0, 3}, {12, 14, 0, 3}, {24, 24, 0, 3}}
)

const (
	hashable      = 5  // no match is looked for closer to the end
	observations  = 10 // kinds of tokens that are counted for the end of a block
	checkInterval = 512
	leastText     = 4096
)

// libdeflate predicts libdeflate, of which each member is a segment. Chains are of places with the same hash of four bytes. From level 2 on
// the last place with the same hash of three bytes is known, too.
type libdeflate struct {
	writer
	libdeflateLevel
	chains
	older       bool
	leastBlock  int // bytes of a block, and behind it
	head, head3 []int32
	hashBits    int  // of four bytes
	known       bool // the next match, which comes after some literals
	after       int
	length      int
	dist        int

	blockStart, blockEnd int // the block ends there, if not before
	leastMatch           int // length of a match
	nextLeast            int // where leastMatch is computed anew
	literals             [256]uint32
	over                 bool // the block ends here
	matches              int
	splitter

	trees libdeflateTree
}

// tally counts tokens.
type tally struct {
	all     uint32
	kinds   [observations]uint32
	lengths [maxMatch + 1]uint32 // of matches
}

func (c *tally) add(t token) {
	kind := t.value()>>5&6 | t.value()&1
	if t.isMatch() {
		kind = observations - 2 + rangecoder.BitOf(t.value() > 8)
		c.lengths[min(t.value(), maxMatch)]++
	}
	c.kinds[kind]++
	c.all++
}

// difference returns how much the parts of the kinds differ, times both counts of all.
func (c *tally) difference(d *tally) (sum uint64) {
	for i := range c.kinds {
		a, b := uint64(c.kinds[i])*uint64(d.all), uint64(d.kinds[i])*uint64(c.all)
		sum += max(a, b) - min(a, b)
	}
	return sum
}

// splitter has the tokens of a block up to the last check of whether it should end, and those since.
type splitter struct{ seen, fresh tally }

// ends reports whether a block of so many bytes, with so many behind it, ends as its fresh tokens are of other kinds than those seen. If it
// does not, and there are enough of them, they are seen. Blocks have least bytes at least.
func (s *splitter) ends(size, behind, least int) bool {
	if s.fresh.all < checkInterval || size < least || behind < least {
		return false
	}
	seen, fresh := uint64(s.seen.all), uint64(s.fresh.all)
	most := fresh * 200 / checkInterval * seen
	if items := seen + fresh; size < 10_000 && items < 8192 {
		most += most * (8192 - items) / 8192
	}
	if seen > 0 && s.seen.difference(&s.fresh)+uint64(size/4096)*seen >= most {
		return true
	}
	s.see()
	return false
}

// see makes the fresh tokens seen.
func (s *splitter) see() {
	s.seen.all += s.fresh.all
	for i, n := range s.fresh.kinds {
		s.seen.kinds[i] += n
	}
	for i, n := range s.fresh.lengths {
		s.seen.lengths[i] += n
	}
	s.fresh = tally{}
}

func newLibdeflate(w writer) *libdeflate {
	z := &libdeflate{writer: w, older: w.rules == olderLibdeflate, leastBlock: 5000, hashBits: 16}
	if z.older {
		z.libdeflateLevel, z.leastBlock = olderLevels[w.level], 10_000
	} else {
		z.libdeflateLevel = libdeflateLevels[w.level]
	}
	if z.older || w.level > 1 {
		z.head3 = make([]int32, 1<<15)
	} else {
		z.hashBits = 15
	}
	z.head = make([]int32, 1<<z.hashBits)
	z.places = z.depth
	z.trees.newer = w.rules == newerLibdeflate
	return z
}

func (z *libdeflate) begin(text []byte, from, to int) {
	z.chains.begin(text, from, to, z.head, z.head3)
	z.known, z.after = false, 0
	// The first place of a member has another hash than it should.
	if z.head[0] = int32(z.hashed - 1); z.head3 != nil {
		z.head3[0] = z.head[0]
	}
	z.hash(to)
}

func (z *libdeflate) segment(end int) {
	z.hash(z.at) // it does not flush: only if others made the file, places are left
	z.end = end
}

// block begins a block.
func (z *libdeflate) block() {
	most := 300_000
	if z.head3 == nil {
		most = 1<<16 - 1
	}
	z.blockStart, z.blockEnd = z.at, greatestEnd(z.at, z.end, most, z.leastBlock)
	z.literals, z.splitter, z.matches, z.over = [256]uint32{}, splitter{}, 0, false
	z.leastMatch = min(leastIn(z.text[z.at:min(z.at+leastText, z.blockEnd)], z.rules == newerLibdeflate), z.least)
	z.nextLeast = z.at + min(z.end-z.at, 10_000)
}

// greatestEnd returns where a block must end, which should have up to most bytes, and behind it at least least bytes up to end, or none.
func greatestEnd(start, end, most, least int) int {
	if end-start < most+least {
		return end
	}
	return start + most
}

// leastIn returns how long a match must be in a block that begins with up to leastText bytes.
func leastIn(text []byte, newer bool) int {
	if newer && len(text) < 512 {
		return minMatch
	}
	var counts [256]uint32
	for _, b := range text {
		counts[b]++
	}
	least, _ := leastLength(&counts, 0)
	return least
}

// leastLength returns how long a match must be, by how many bytes are used more than so often.
func leastLength(counts *[256]uint32, above uint32) (least, used int) {
	for _, n := range counts {
		used += rangecoder.BitOf(n > above)
	}
	least = minMatch
	for _, most := range [...]int{79, 44, 15, 9, 7, 5} { // up to so many, a match must be longer by one
		least += rangecoder.BitOf(used <= most)
	}
	return least, used
}

func (z *libdeflate) ends(tokens []token) bool {
	if len(tokens) == 0 {
		z.block()
	}
	return z.over || z.at >= z.end
}

func multiplied(v uint32, bits int) uint32 { return v * 0x1e35a7bd >> (32 - bits) }

// hash puts the places up to the given one into the tables.
func (z *libdeflate) hash(to int) {
	for ; z.hashed < to; z.hashed++ {
		z.insert(z.hashed)
	}
}

// insert puts a place at the head of its chain, and returns the places that had its hashes of four and three bytes.
func (z *libdeflate) insert(place int) (last, last3 int) {
	v := deflate.Load32(z.text, place)
	if z.head3 != nil {
		head3 := &z.head3[multiplied(v&0xffffff, 15)]
		last3 = int(*head3)
		*head3 = int32(place)
	}
	return z.link(&z.head[multiplied(v, z.hashBits)], place), last3
}

func (z *libdeflate) next() token {
	here := literal(z.text[z.at])
	if z.after > 0 {
		return here
	}
	if !z.known {
		nearest := 4096 // a match of three bytes has to be this near
		if z.ahead > 0 {
			nearest = 8192
			if z.at >= z.nextLeast {
				z.newLeast()
			}
		}
		z.length, z.dist = z.find(z.at, z.leastMatch-1, z.depth)
		if z.known = z.length >= z.leastMatch && (z.length > minMatch || z.dist <= nearest || z.older); !z.known {
			return here
		}
	}
	if z.length < min(z.nice, z.end-z.at) {
		for i := 1; i <= z.ahead; i++ {
			least := 4*i - 2 // how much better a match must be
			if length, dist := z.find(z.at+i, z.length-1, z.depth>>i); length >= z.length &&
				4*(length-z.length)+bits.Len(uint(z.dist))-bits.Len(uint(dist)) > least {
				z.after, z.length, z.dist = i, length, dist
				return here
			}
		}
	}
	return match(z.length, z.dist)
}

// newLeast computes the least length of matches by the literals of the block so far.
func (z *libdeflate) newLeast() {
	all := uint32(0)
	for _, n := range z.literals {
		all += n
	}
	least, _ := leastLength(&z.literals, all>>10)
	z.leastMatch = min(least, z.least)
	z.nextLeast += min(z.end-z.nextLeast, z.at-z.blockStart)
}

// find looks for a match at a place that is longer than least, and puts the place into its chain.
func (z *libdeflate) find(place, least, depth int) (length, dist int) {
	most := min(maxMatch, z.end-place)
	if most < hashable {
		return least, 0
	}
	last := z.previous(place)
	last3 := last
	if z.hashed == place {
		last, last3 = z.insert(place)
		z.hashed++
	}
	limit := place - windowSize
	if least < 4 && z.head3 != nil {
		if last3 <= limit {
			return least, 0
		}
		if least < 3 && (deflate.Load32(z.text, last3)^deflate.Load32(z.text, place))&0xffffff == 0 {
			least, dist = 3, place-last3
		}
	} else if least >= z.nice {
		return least, 0
	}
	if last > limit {
		// Places of the chain have the same four bytes.
		if n, d := z.search(place, last, max(least, 3), limit, depth, z.nice); d > 0 {
			return n, d
		}
	}
	return least, dist
}

func (z *libdeflate) accept(t token) {
	whole := z.after == 0 // it was not decided together with the next token
	if t.isMatch() {
		if z.at+t.size()+hashable <= z.end {
			z.hash(z.at + t.size())
		}
		z.matches++
		whole, z.after, z.known = true, 0, false
	} else {
		z.literals[t.value()]++
		z.known = z.after > 0
		z.after = max(z.after-1, 0)
	}
	z.at += t.size()
	z.fresh.add(t)
	z.over = whole && (z.at >= z.blockEnd || z.full())
}

// full reports whether the block should end here: it has as many matches as fit, or its tokens are of other kinds than before.
func (z *libdeflate) full() bool {
	if z.head3 == nil {
		return z.matches >= 8192
	}
	return z.matches >= 50_000 || z.splitter.ends(z.at-z.blockStart, z.end-z.at, z.leastBlock)
}

func (z *libdeflate) plan(tokens []token, as *block) { as.plan(tokens, &z.trees, 14, true, 1) }
