package gzexact

import (
	"math"

	"orcomgo/compress/rangecoder"
	"orcomgo/internal/deflate"
)

// nearLevel are the limits of a level of near.
type nearLevel struct {
	depth      int // how many places of a tree are compared
	nice       int // a match of this length is taken at once
	passes     int // how often a block is parsed at most
	leastGain  int // bits: if a pass gains less, it is the last one
	leastLoss  int // bits: if the last pass loses as many, the one before counts
	mostStatic int // bytes of blocks that are parsed for static codes, too
}

// nearLevels are those behind libdeflateLevels, and those of version 1.19 on.
var nearLevels = [2][3]nearLevel{
	{{35, 75, 2, -far, 1, 0}, {70, 150, 3, -far, 1, 0}, {150, maxMatch, 4, -far, 1, 0}},
	{{35, 75, 2, 32, 32, 0}, {100, 150, 4, 16, 16, 1000}, {300, maxMatch, 10, 1, 1, 10_000}},
}

const (
	nearBlock      = 300_000
	nearLeastBlock = 5000
	nearMatches    = 5 * nearBlock // when a block has so many places and matches, it ends
	mostAstray     = 4

	// Costs are in units of a 16th of a bit.
	bitCost    = 16
	noPath     = 1 << 31 // more than any block costs
	usualDist  = 78      // if all symbols are as frequent
	unusedDist = 10      // bits of a symbol that the pass before did not have
	unused     = 13      // likewise, of literals and lengths
	allWeight  = 8       // of two costs that are mixed
)

// near predicts the levels of libdeflate that compute with which tokens a block is smallest. It first looks for matches at all places, and
// counts what tokens there would be if the longest match were always taken, to find the end of the block. Then it parses the block some
// times: backwards, it computes from each place on what the rest of the block costs. What symbols cost is guessed first, and follows then
// from the codes of the pass before.
type near struct {
	nearLevel
	newer bool
	matchTree
	at       int // of the next token
	end      int // of the segment
	searched int // places before it are in the tree

	start, blockEnd int     // of the block that was parsed last
	goesOn          bool    // it was stored, and what was stored is not all of it
	astray          int     // how many blocks of the frame ended elsewhere
	upTo            []int32 // where in matches those of each place end, from start on
	choices         []token // of each place of the block
	rest            []uint32

	splitter
	last         tally // of the block that was parsed last, if there is one in the member
	onlyLiterals bool  // are in it, because that is least
	costs
	planned block
	trees   libdeflateTree
}

// costs are those of all symbols.
type costs struct {
	literals [deflate.Literals]uint32
	dists    [deflate.Dists]uint32
}

func newNear(w writer) *near {
	newer := w.rules == newerLibdeflate
	level := nearLevels[rangecoder.BitOf(newer)][int(w.level)-len(libdeflateLevels)]
	return &near{nearLevel: level, newer: newer, trees: libdeflateTree{newer: newer}}
}

func (z *near) begin(text []byte, from, to int) {
	first := max(from, to-windowSize)
	z.matchTree.begin(text, first)
	z.at, z.end, z.searched, z.start, z.blockEnd = to, noPlace, first, first, to
	z.matches, z.upTo = z.matches[:0], z.upTo[:0]
	z.goesOn, z.astray, z.onlyLiterals = false, 0, false
	z.splitter, z.last = splitter{}, tally{}
}

func (z *near) rebase(text []byte, by int) {
	z.matchTree.rebase(text, by)
	z.at, z.end, z.searched, z.start, z.blockEnd = z.at-by, z.end-by, z.searched-by, z.start-by, z.blockEnd-by
	z.astray = 0
}

func (z *near) segment(end int) { z.end = end }

func (z *near) place() int { return z.at }

func (z *near) ends(tokens []token) bool {
	if len(tokens) == 0 && (z.at >= z.blockEnd || z.at != z.start && !z.goesOn) {
		z.block()
	}
	return z.at >= z.blockEnd
}

func (z *near) next() token {
	if z.at >= z.blockEnd {
		z.astray++
		z.block()
	}
	if i := z.at - z.start; i < len(z.choices) {
		return z.choices[i]
	}
	return literal(z.text[z.at])
}

func (z *near) accept(t token) {
	z.goesOn = t.size() == 1<<16-1
	z.at += t.size()
}

func (z *near) plan(tokens []token, as *block) { as.plan(tokens, &z.trees, 14, true, 1) }

// block finds the end of a block, and parses it. If it was wrong so often that another writer is likely, it chooses literals instead: to
// parse takes long.
func (z *near) block() {
	if z.reach(); z.astray > mostAstray {
		z.blockEnd, z.choices = z.end, nil
		return
	}
	z.seek()
	z.parse()
	z.last, z.seen = z.seen, tally{}
}

// seek finds the end of a block.
func (z *near) seek() {
	limit := greatestEnd(z.start, z.end, nearBlock, nearLeastBlock)
	last := limit
	if content := len(z.text) - padBytes; content < z.end {
		last = min(limit, content-maxMatch)
	}
	least := leastIn(z.text[z.start:max(min(z.start+leastText, last), z.start)], z.newer)
	if z.onlyLiterals {
		least = maxMatch + 1
	}
	counted, before, ends := z.searched, 0, false
	for z.searched < last && !ends {
		place := z.searched
		longest, nice := z.pass(true)
		for i := 1; i < longest && longest >= nice; i++ {
			z.pass(false)
		}
		if place >= counted {
			t := literal(z.text[place])
			if longest >= least {
				t = match(longest, 1)
			}
			counted = place + t.size()
			z.fresh.add(t)
		}
		if z.searched >= limit || len(z.matches)+len(z.upTo) >= nearMatches {
			break
		}
		fresh := z.fresh.all
		if ends = z.splitter.ends(z.searched-z.start, z.end-z.searched, nearLeastBlock); z.fresh.all < fresh {
			before = z.searched
		}
	}
	z.blockEnd = z.searched
	if ends && before > 0 { // what differs is left to the next block
		z.blockEnd = before
	} else {
		z.see()
	}
}

// reach begins a block at the next token. Of the matches, those before it are dropped.
func (z *near) reach() {
	if z.at != z.blockEnd {
		z.astray++
		z.splitter = splitter{}
	}
	for z.searched < z.at {
		z.pass(false)
	}
	if n := z.at - z.start; n > 0 {
		from := z.upTo[n-1]
		z.matches = append(z.matches[:0], z.matches[from:]...)
		z.upTo = append(z.upTo[:0], z.upTo[n:]...)
		for i := range z.upTo {
			z.upTo[i] -= from
		}
	}
	z.start = z.at
}

// pass goes past a place, and notes its matches if that is said. It returns the length of the longest one, and which is nice.
func (z *near) pass(note bool) (longest, nice int) {
	most := min(maxMatch, z.end-z.searched)
	if nice = min(z.nice, most); most >= hashable {
		longest = z.add(z.searched, most, nice, z.depth, note)
	}
	z.upTo = append(z.upTo, int32(len(z.matches)))
	z.searched++
	return longest, nice
}

// parse chooses the tokens of the block.
func (z *near) parse() {
	literals, static := far, far // bits
	if z.newer {
		literals = z.planLiterals()
	}
	if z.blockEnd-z.start <= z.mostStatic {
		left := z.costs
		z.setCosts(deflate.StaticLiterals, deflate.StaticDists)
		z.cheapest()
		static, z.costs = int(z.rest[0])/bitCost+7, left
	}
	z.guessCosts()
	best, bits, costs := far, 0, z.costs
	for range z.passes {
		z.cheapest()
		if bits = z.planChoices(); bits+z.leastGain > best {
			break
		}
		best, costs = bits, z.costs
		z.setCosts(z.planned.codes.literalLengths(), z.planned.codes.distLengths())
	}
	z.onlyLiterals = literals < min(best, static)
	switch {
	case z.onlyLiterals:
		z.planLiterals()
	case static < best:
		z.setCosts(deflate.StaticLiterals, deflate.StaticDists)
		z.cheapest()
		return
	case bits >= best+z.leastLoss:
		z.costs = costs
		z.cheapest()
		z.planChoices()
	default:
		return
	}
	z.setCosts(z.planned.codes.literalLengths(), z.planned.codes.distLengths())
}

// planLiterals chooses nothing but literals, and returns how many bits the block has then if it is dynamic.
func (z *near) planLiterals() int {
	z.choices = z.choices[:0]
	for _, b := range z.text[z.start:z.blockEnd] {
		z.choices = append(z.choices, literal(b))
	}
	return z.planChoices()
}

// planChoices returns how many bits the block has with the choices, if it is dynamic.
func (z *near) planChoices() int {
	tokens := z.planned.tokens[:0]
	for at := 0; at < len(z.choices); at += z.choices[at].size() {
		tokens = append(tokens, z.choices[at])
	}
	z.planned.tokens = tokens
	return z.planned.plan(tokens, &z.trees, 14, true, 1)
}

// guessCosts sets the costs for the first pass: of usual ones, and those that were left by the block before, the more the less the blocks
// differ. There are usual costs for a block of few matches, of some, and of many.
func (z *near) guessCosts() {
	text := z.text[z.start:z.blockEnd]
	var counts [256]uint32
	for _, b := range text {
		counts[b]++
	}
	least, used := leastLength(&counts, uint32(len(text)>>11))
	literals, matches := len(text), 0
	for n := least; n <= maxMatch; n++ {
		literals -= n * int(z.seen.lengths[n])
		matches += int(z.seen.lengths[n])
	}
	part, length := 0.75, uint32(109) // of literals; and -log2((1 - part) / deflate.Lengths) bits
	switch {
	case matches > literals:
		part, length = 0.25, 84
	case 4*matches > literals:
		part, length = 0.5, 93
	}
	weight, difference := uint32(2), z.seen.difference(&z.last) // of usual costs
	switch most := uint64(z.seen.all) * uint64(z.last.all) * 200 / checkInterval; {
	case z.last.all == 0 || z.newer && difference > 3*most:
		weight = allWeight
	case 4*difference > 9*most:
		weight = 6
	case 2*difference > 3*most:
		weight = 5
	case 2*difference > most:
		weight = 4
	}
	mix := func(costs []uint32, extra []uint8, usual uint32) {
		for i, n := range extra {
			costs[i] = (weight*(usual+bitCost*uint32(n)) + (allWeight-weight)*costs[i]) / allWeight
		}
	}
	// The number is a whole one, exactly, or far from any: it is the same on all machines.
	mix(z.literals[:], literalExtra[:endOfBlock+1], uint32(-math.Log2(part/float64(max(used, 1)))*bitCost))
	mix(z.literals[endOfBlock+1:], deflate.LengthExtra[:], length)
	mix(z.dists[:], deflate.DistExtra[:], usualDist)
}

// setCosts sets the costs to those of codes with these lengths.
func (z *near) setCosts(literals, dists []uint8) {
	costsOf(z.literals[:], literals, literalExtra, unused)
	costsOf(z.dists[:], dists, deflate.DistExtra[:], unusedDist)
}

// costsOf sets the costs of symbols by the lengths of their code, which may be fewer.
func costsOf(costs []uint32, lengths, extra []uint8, unused uint8) {
	for i := range costs {
		bits := unused
		if i < len(lengths) && lengths[i] > 0 {
			bits = lengths[i]
		}
		costs[i] = bitCost * uint32(bits+extra[i])
	}
}

// cheapest chooses for each place the token with which the rest of the block costs least. Of equal ones it is the literal, or the shortest
// match; a match of a length has the least distance.
func (z *near) cheapest() {
	var lengths [maxMatch + 1]uint32
	for n := minMatch; n <= maxMatch; n++ {
		lengths[n] = z.literals[endOfBlock+1+int(lengthSymbols[n])]
	}
	text := z.text[z.start:z.blockEnd]
	z.choices = append(z.choices[:0], make([]token, len(text))...)
	z.rest = append(z.rest[:0], make([]uint32, len(text)+maxMatch)...)
	for i := len(text) + 1; i < len(z.rest); i++ {
		z.rest[i] = noPath
	}
	for i := len(text) - 1; i >= 0; i-- {
		choice, least := literal(text[i]), z.literals[text[i]]+z.rest[i+1]
		rest, n, from := z.rest[i:i+maxMatch+1], minMatch, int32(0)
		if i > 0 {
			from = z.upTo[i-1]
		}
		for _, m := range z.matches[from:z.upTo[i]] {
			cost, best := z.dists[distSymbol(m.dist())], 0
			tail := rest[n : m.value()+1]
			for j, c := range lengths[n : m.value()+1] {
				if c += cost + tail[j]; c < least {
					best, least = n+j, c
				}
			}
			if n = m.value() + 1; best > 0 {
				choice = match(best, m.dist())
			}
		}
		z.choices[i], z.rest[i] = choice, least
	}
}
