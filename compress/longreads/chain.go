package longreads

import (
	"cmp"
	"slices"

	"orcomgo/bases"
)

// How k-mers that a read shares with the sequence are chained.
const (
	// maxGap is how far apart the neighbours of a chain may be, in bases of the read and of the sequence.
	maxGap = 3000
	// Chains that may still grow are found by where their last k-mer is in the sequence: in cells of 1 << cellBits bases, more than
	// maxGap, of which every `cells`-th has the same list. A list has at most maxActive chains.
	cellBits  = 12
	cells     = 1 << 10
	maxActive = 16
	// Neighbours may be shifted against each other by shiftBases, and one base for shiftEvery between them.
	shiftBases = 32
	shiftEvery = 8
)

// anchor is a k-mer of a chain.
type anchor struct{ read, place uint32 }

// chain is a stretch of the read and one of the sequence whose shared k-mers are in the same order. Anchors count in the oriented read:
// the reverse complement of the read if reversed is set.
type chain struct {
	reversed bool
	score    int // bases of the read that the k-mers cover
	anchors  []anchor

	last anchor // while it grows
	size int
}

// span returns the bases of the read, of n, that the anchors span, in the direction of the read.
func (c *chain) span(n int) (from, to int) {
	return oriented(int(c.anchors[0].read), int(c.anchors[len(c.anchors)-1].read)+k, n, c.reversed)
}

// oriented returns from and to, of n bases, as they count on the other strand if reversed is set.
func oriented(from, to, n int, reversed bool) (int, int) {
	if reversed {
		return n - to, n - from
	}
	return from, to
}

// chainer finds chains. It has memory of its own, so each goroutine needs one.
type chainer struct {
	kmers   []kmer
	hits    []hit
	chains  []chain
	active  [cells][]int32 // chains that may still grow, by cell
	used    []int          // cells that have some
	order   []int          // chains, the best first
	of      []int32        // chain of each hit
	anchors []anchor
	claimed []interval
	picked  []chain
	mosaic  mosaic
	divided bool // chains that compete share a read (mosaic.go); otherwise the one with most k-mers has all that they compete for
	limit   int  // if not 0, only the bases of the sequence before this one are looked at
}

type interval struct{ from, to int }

// find returns the chains of a read of n bases with the indexed sequence that do not overlap in the read, at least minAnchors each, in the
// order of the read. They are valid until the next call.
func (c *chainer) find(x *index, read bases.Words, n, minAnchors int) []chain {
	c.kmers = appendKmers(c.kmers[:0], read, 0, n)
	c.hits = c.hits[:0]
	var copies [maxCopies + 1]int // k-mers of the read by how many places they have
	for _, m := range c.kmers {
		before := len(c.hits)
		c.hits = x.appendHits(c.hits, m)
		if c.limit > 0 {
			after := func(h hit) bool { return int(h.place)+k > c.limit }
			c.hits = c.hits[:before+len(slices.DeleteFunc(c.hits[before:], after))]
		}
		copies[len(c.hits)-before]++
	}
	if most := hitsPerKmer*len(c.kmers) + freeHits; len(c.hits) > most {
		c.thin(copiesWithin(&copies, most))
	}
	return c.pick(n, minAnchors)
}

const (
	// hitsPerKmer is how many hits a read has for each of its k-mers, on the average, and freeHits how many more. If it has more than
	// that, only the first places of its k-mers are taken.
	hitsPerKmer = 8
	freeHits    = 64
)

// copiesWithin returns how many places of each k-mer, at least 1, give no more than `most` hits. copies counts k-mers by their places.
func copiesWithin(copies *[maxCopies + 1]int, most int) int {
	left := 0 // k-mers with more places than those counted
	for _, n := range copies[1:] {
		left += n
	}
	hits := left // with one place of each
	for places := 1; places < maxCopies; places++ {
		left -= copies[places]
		if hits += left; hits > most {
			return places
		}
	}
	return maxCopies
}

// thin keeps the first `places` places of each k-mer.
func (c *chainer) thin(places int) {
	kept, same := c.hits[:0], 0
	read := ^uint32(0)
	for _, h := range c.hits {
		if same++; h.read != read {
			same, read = 1, h.read
		}
		if same <= places {
			kept = append(kept, h)
		}
	}
	c.hits = kept
}

// eachAnchor calls f with the hits on a strand, their numbers and where they are in a read of n bases on that strand, in this order.
func (c *chainer) eachAnchor(n int, reversed bool, f func(i int, a anchor)) {
	for j := range c.hits {
		i := j
		if reversed {
			i = len(c.hits) - 1 - j
		}
		if h := c.hits[i]; h.reversed == reversed {
			a := anchor{h.read, h.place}
			if reversed {
				a.read = uint32(n) - k - h.read
			}
			f(i, a)
		}
	}
}

// pick chains the hits and returns the best chains, see find.
func (c *chainer) pick(n, minAnchors int) []chain {
	c.picked = c.picked[:0]
	c.chains = c.chains[:0]
	c.of = slices.Grow(c.of[:0], len(c.hits))[:len(c.hits)]
	for _, reversed := range []bool{false, true} {
		for _, i := range c.used {
			c.active[i] = c.active[i][:0]
		}
		c.used = c.used[:0]
		c.eachAnchor(n, reversed, func(i int, a anchor) { c.of[i] = int32(c.append(a, reversed)) })
	}
	if len(c.chains) == 0 {
		return nil
	}
	// Anchors are distributed to their chains.
	c.anchors = slices.Grow(c.anchors[:0], len(c.hits))[:len(c.hits)]
	at := 0
	for i := range c.chains {
		h := &c.chains[i]
		h.anchors = c.anchors[at : at : at+h.size]
		at += h.size
	}
	for _, reversed := range []bool{false, true} {
		c.eachAnchor(n, reversed, func(i int, a anchor) {
			to := &c.chains[c.of[i]]
			to.anchors = append(to.anchors, a)
		})
	}
	c.order = c.order[:0]
	for i := range c.chains {
		if c.chains[i].size >= minAnchors {
			c.order = append(c.order, i)
		}
	}
	slices.SortFunc(c.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(c.chains[b].score, c.chains[a].score), cmp.Compare(a, b))
	})
	c.claimed = c.claimed[:0]
	if c.divided && c.compete(n) {
		c.divide(n, minAnchors)
	}
	for _, i := range c.order {
		h := &c.chains[i]
		if c.trim(h, n); len(h.anchors) < minAnchors || len(h.anchors) == 0 {
			continue
		}
		from, to := h.span(n)
		at, _ := slices.BinarySearchFunc(c.claimed, from, func(v interval, from int) int { return cmp.Compare(v.from, from) })
		c.claimed = slices.Insert(c.claimed, at, interval{from, to})
		c.picked = append(c.picked, *h)
	}
	slices.SortFunc(c.picked, func(a, b chain) int {
		x, _ := a.span(n)
		y, _ := b.span(n)
		return cmp.Compare(x, y)
	})
	return c.picked
}

// append adds an anchor to the chain that it fits best, or begins one, and returns the chain's number.
func (c *chainer) append(a anchor, reversed bool) int {
	best, bestShift, bestCell, bestAt := -1, 0, 0, 0
	cell := int(a.place >> cellBits & (cells - 1))
	for _, x := range [2]int{cell, (cell - 1) & (cells - 1)} {
		list := c.active[x]
		kept := list[:0]
		for _, i := range list {
			h := &c.chains[i]
			r := int(a.read) - int(h.last.read)
			if r > maxGap {
				continue // no later anchor fits either
			}
			kept = append(kept, i)
			p := int(a.place) - int(h.last.place)
			if r <= 0 || p <= 0 || p > maxGap {
				continue
			}
			shift := max(p-r, r-p)
			if shift > shiftBases+min(p, r)/shiftEvery {
				continue
			}
			if best < 0 || shift < bestShift || shift == bestShift && int(i) > best {
				best, bestShift, bestCell, bestAt = int(i), shift, x, len(kept)-1
			}
		}
		c.active[x] = kept
	}
	if best < 0 {
		best = len(c.chains)
		c.chains = append(c.chains, chain{reversed: reversed, score: k, last: a, size: 1})
		c.activate(cell, best)
		return best
	}
	h := &c.chains[best]
	h.score += min(k, int(a.read-h.last.read), int(a.place-h.last.place))
	h.last = a
	h.size++
	if bestCell != cell {
		c.active[bestCell] = slices.Delete(c.active[bestCell], bestAt, bestAt+1)
		c.activate(cell, best)
	}
	return best
}

// activate adds a chain to the list of a cell. If the list is full, the chain with the lowest score is removed.
func (c *chainer) activate(cell, number int) {
	list := c.active[cell]
	if len(list) == 0 {
		c.used = append(c.used, cell)
	}
	if len(list) == maxActive {
		least := 0
		for j, i := range list {
			if c.chains[i].score < c.chains[list[least]].score {
				least = j
			}
		}
		list = slices.Delete(list, least, least+1)
	}
	c.active[cell] = append(list, int32(number))
}

// trim removes the anchors in bases of the read that are claimed. If what is left is in several pieces, the one with most anchors remains.
func (c *chainer) trim(h *chain, n int) {
	from, to := h.span(n)
	at, _ := slices.BinarySearchFunc(c.claimed, from, func(v interval, from int) int { return cmp.Compare(v.to, from) })
	if at == len(c.claimed) || c.claimed[at].from >= to {
		return
	}
	free := func(a anchor) bool {
		lo, hi := oriented(int(a.read), int(a.read)+k, n, h.reversed)
		i, _ := slices.BinarySearchFunc(c.claimed, lo+1, func(v interval, lo int) int { return cmp.Compare(v.to, lo) })
		return i == len(c.claimed) || c.claimed[i].from >= hi
	}
	// A claimed stretch between two anchors divides them as well.
	gap := func(a anchor) int {
		lo, _ := oriented(int(a.read), int(a.read)+k, n, h.reversed)
		i, _ := slices.BinarySearchFunc(c.claimed, lo, func(v interval, lo int) int { return cmp.Compare(v.from, lo) })
		return i
	}
	bestFrom, bestTo, start := 0, 0, 0
	for i := 0; i <= len(h.anchors); i++ {
		switch {
		case i == len(h.anchors) || !free(h.anchors[i]):
			if i-start > bestTo-bestFrom {
				bestFrom, bestTo = start, i
			}
			start = i + 1
		case i > start && gap(h.anchors[i-1]) != gap(h.anchors[i]):
			if i-start > bestTo-bestFrom {
				bestFrom, bestTo = start, i
			}
			start = i
		}
	}
	h.anchors = h.anchors[bestFrom:bestTo]
	h.size = len(h.anchors)
}
