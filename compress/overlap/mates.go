package overlap

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"orcomgo/bases"
	"orcomgo/internal/tasks"
)

// Two mates are coded in few bits if they lie near each other on the pseudogenome. Where they lie on different scaffolds, these are near
// each other in the sequence that the reads come from. So the scaffolds are put in an order, and on strands, that bring such mates
// together.

// mateRange says that n records, from first on, are the first mates of those from second on: each record, or every apart-th.
type mateRange struct{ first, second, n, apart uint32 }

// mateRanges returns the pairs of the records that recordsOf numbers for srcs.
func (rs *records) mateRanges(srcs []Source) (pairs []mateRange) {
	inputs := rs.bins.Meta().Inputs
	starts := make([]uint32, len(srcs))
	sum := uint64(0)
	for i, s := range srcs {
		starts[i] = uint32(sum)
		sum += s.To - s.From
	}
	for i, s := range srcs {
		switch in := &inputs[s.Input]; {
		case in.Interleaved:
			pairs = append(pairs, mateRange{starts[i], starts[i] + 1, uint32(s.To-s.From) / 2, 2})
		case in.Mate >= 0 && in.First:
			if k := slices.Index(srcs, Source{Input: in.Mate, From: s.From, To: s.To}); k >= 0 {
				pairs = append(pairs, mateRange{starts[i], starts[k], uint32(s.To - s.From), 1})
			}
		}
	}
	return pairs
}

// countPairs returns how many pairs there are in the ranges.
func countPairs(pairs []mateRange) int {
	n := 0
	for _, p := range pairs {
		n += int(p.n)
	}
	return n
}

// islands are the smallest parts of the pseudogenome of which no two are covered by the same read. They can be moved.
type islands struct {
	inner  Subset // the bases that some read covers together with the base before
	starts []uint32
	end    uint32
}

// islandBytes is the memory of an island while islands are ordered, approximately.
const islandBytes = 64

// findIslands returns the islands of the pseudogenome; nil if there is one, or if they take more than maxBytes of memory.
func (b *builder) findIslands(ctx context.Context, maxBytes uint64) (*islands, error) {
	s := &islands{inner: NewSubset(b.seq.n), end: uint32(b.seq.n)}
	err := b.records.lengths(ctx, func(rec uint32, length int) {
		if pos := b.placements.pos[rec]; pos != Unplaced {
			s.inner.addRange(int(pos)+1, int(pos)+length)
		}
	})
	if err != nil {
		return nil, err
	}
	count := b.seq.n - s.inner.buildRanks()
	if count < 2 || uint64(count)*islandBytes > maxBytes {
		return nil, nil
	}
	s.starts = make([]uint32, 0, count)
	for i := range uint32(b.seq.n) {
		if !s.inner.Has(i) {
			s.starts = append(s.starts, i)
		}
	}
	return s, nil
}

// of returns the number of the island of a position.
func (s *islands) of(pos uint32) uint32 { return pos - uint32(s.inner.rank(pos+1)) }

// stop returns the position after the last base of an island.
func (s *islands) stop(i uint32) uint32 {
	if int(i)+1 < len(s.starts) {
		return s.starts[i+1]
	}
	return s.end
}

// length returns the length of an island in bases.
func (s *islands) length(i uint32) int64 { return int64(s.stop(i) - s.starts[i]) }

// islandSide is a side of an island: the number of the island << 1 | 1 for the side of its last base.
type islandSide uint32

func (a islandSide) island() uint32 { return uint32(a >> 1) }
func (a islandSide) right() bool    { return a&1 != 0 }

// mateLink says that the islands of a and b hold the mates of some pairs and lie with these sides towards each other; a < b.
type mateLink struct {
	a, b     islandSide
	pairs    uint32
	distance uint64 // sum over the pairs of how far the mates are from these sides, in bases
}

// mateLinkBytes is the memory of a link and of its copy while links are counted.
const mateLinkBytes = 2 * 24

// maxMateDistance is how many bases two mates may be apart for it to be useful that they lie on one chain: the coding of mates
// (compress/seqs) treats those as independent that are further apart.
const maxMateDistance = 3000

// pairOrientation says how mates lie that are on one island.
type pairOrientation struct {
	sameStrand bool
	outwards   bool // the second mate lies behind the first one
}

// eachPair calls f, from several goroutines (whose numbers are t), with the records of every step-th pair.
func (b *builder) eachPair(pairs []mateRange, step int, f func(t int, first, second uint32)) {
	const batch = 1 << 14
	for _, p := range pairs {
		inParallel(b.config.Threads, (int(p.n)+step-1)/step, batch, func(t, from, to int) {
			for i := from; i < to; i++ {
				f(t, p.first+uint32(i*step)*p.apart, p.second+uint32(i*step)*p.apart)
			}
		})
	}
}

// pairOrientation returns how most pairs lie, of about a million.
func (b *builder) pairOrientation(s *islands, pairs []mateRange) pairOrientation {
	var counts [4]atomic.Int64 // same strand, outwards
	pl := b.placements
	step := 1 + countPairs(pairs)>>20
	b.eachPair(pairs, step, func(_ int, first, second uint32) {
		x, y := pl.pos[first], pl.pos[second]
		if x == Unplaced || y == Unplaced || s.of(x) != s.of(y) {
			return
		}
		k := 0
		if pl.reversed(first) == pl.reversed(second) {
			k = 2
		}
		if y < x != pl.reversed(first) {
			k++
		}
		counts[k].Add(1)
	})
	most := 0
	for k := range counts {
		if counts[k].Load() > counts[most].Load() {
			most = k
		}
	}
	return pairOrientation{sameStrand: most&2 != 0, outwards: most&1 != 0}
}

// mateLinks returns the links between islands: those of most pairs first.
func (b *builder) mateLinks(s *islands, pairs []mateRange, step int) []mateLink {
	o := b.pairOrientation(s, pairs)
	pl := b.placements
	// side returns the side of its island that the other mate of a record lies towards, and how far it is.
	side := func(rec uint32, towardsRight bool) (islandSide, uint32) {
		pos := pl.pos[rec]
		i := s.of(pos)
		if towardsRight {
			return islandSide(i<<1 | 1), s.stop(i) - pos
		}
		return islandSide(i << 1), pos - s.starts[i]
	}
	const parts = 64
	found := make([][parts][]mateLink, b.config.Threads)
	b.eachPair(pairs, step, func(t int, first, second uint32) {
		x, y := pl.pos[first], pl.pos[second]
		if x == Unplaced || y == Unplaced || s.of(x) == s.of(y) {
			return
		}
		l := mateLink{pairs: 1}
		var m, n uint32
		l.a, m = side(first, pl.reversed(first) == o.outwards)
		l.b, n = side(second, (pl.reversed(second) == o.outwards) != o.sameStrand)
		l.distance = uint64(m) + uint64(n)
		if l.a > l.b {
			l.a, l.b = l.b, l.a
		}
		part := &found[t][(l.a^l.b)*0x9e3779b1>>26]
		*part = append(*part, l)
	})
	var links []mateLink
	var mu sync.Mutex
	tasks.Each(parts, b.config.Threads, func(_, k int) {
		var part []mateLink
		for t := range found {
			part = append(part, found[t][k]...)
			found[t][k] = nil
		}
		slices.SortFunc(part, func(x, y mateLink) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
		n := 0
		for _, l := range part {
			if n > 0 && part[n-1].a == l.a && part[n-1].b == l.b {
				part[n-1].pairs += l.pairs
				part[n-1].distance += l.distance
				continue
			}
			part[n] = l
			n++
		}
		mu.Lock()
		defer mu.Unlock()
		links = append(links, part[:n]...)
	})
	slices.SortFunc(links, func(x, y mateLink) int {
		return cmp.Or(cmp.Compare(y.pairs, x.pairs), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	return links
}

// chains are islands that are next to each other: each side of an island is next to at most one side of another one.
type chains struct {
	*islands
	next   []islandSide // by side, the side that it is next to; noSide if there is none
	parent []uint32     // by island, another island of its chain, whose root is its own parent
}

const noSide = ^islandSide(0)

func newChains(s *islands) *chains {
	c := &chains{islands: s, next: make([]islandSide, 2*len(s.starts)), parent: make([]uint32, len(s.starts))}
	for i := range c.parent {
		c.next[2*i], c.next[2*i+1], c.parent[i] = noSide, noSide, uint32(i)
	}
	return c
}

// root returns the root of an island's chain.
func (c *chains) root(i uint32) uint32 {
	for c.parent[i] != i {
		c.parent[i] = c.parent[c.parent[i]]
		i = c.parent[i]
	}
	return i
}

// end returns the end of a chain on the side of a, and adds the bases between the two to distance. It stops where that is too far.
func (c *chains) end(a islandSide, distance *uint64) islandSide {
	for *distance <= maxMateDistance && c.next[a] != noSide {
		a = c.next[a]
		*distance += uint64(c.length(a.island()))
		a ^= 1
	}
	return a
}

// join puts the ends of the chains of the sides of l next to each other, if that brings the mates near enough to each other.
func (c *chains) join(l *mateLink) {
	distance := l.distance / uint64(l.pairs)
	a, b := c.end(l.a, &distance), c.end(l.b, &distance)
	x, y := c.root(l.a.island()), c.root(l.b.island())
	if distance > maxMateDistance || x == y {
		return
	}
	c.parent[y] = x
	c.next[a], c.next[b] = b, a
}

// moved says where each island is to be moved to.
type moved struct {
	order    []uint32 // the islands
	starts   []uint32 // by island
	reversed []bool   // by island
}

// moves returns the order that the chains give: they are sorted by their first islands, which stay on their strand.
func (c *chains) moves() *moved {
	n := len(c.starts)
	m := &moved{order: make([]uint32, 0, n), starts: make([]uint32, n), reversed: make([]bool, n)}
	done := make([]bool, n)
	at := uint32(0)
	for i := range uint32(n) {
		if done[i] {
			continue
		}
		left := islandSide(2 * i) // the leftmost side of the chain, if island i stays on its strand
		for c.next[left] != noSide {
			left = c.next[left] ^ 1
		}
		for {
			island := left.island()
			done[island] = true
			m.order = append(m.order, island)
			m.starts[island], m.reversed[island] = at, left.right()
			at += uint32(c.length(island))
			right := left ^ 1
			if c.next[right] == noSide {
				break
			}
			left = c.next[right]
		}
	}
	return m
}

// move moves the islands of the pseudogenome, and the places of the reads with them.
func (b *builder) move(ctx context.Context, s *islands, m *moved) error {
	pl := b.placements
	err := b.records.lengths(ctx, func(rec uint32, length int) {
		pos := pl.pos[rec]
		if pos == Unplaced {
			return
		}
		i := s.of(pos)
		if m.reversed[i] {
			pl.reverse(rec)
			pl.pos[rec] = m.starts[i] + s.stop(i) - pos - uint32(length)
		} else {
			pl.pos[rec] = m.starts[i] + pos - s.starts[i]
		}
	})
	if err != nil {
		return err
	}
	var seq sequence
	seq.grow(b.seq.n)
	var island, reversed []byte
	for _, i := range m.order {
		n := int(s.length(i))
		if !m.reversed[i] {
			bases.Copy(seq.packed, seq.n, b.seq.packed, int(s.starts[i]), n)
			seq.n += n
			continue
		}
		size := (n+3)/4 + 2*bases.Pad
		island, reversed = slices.Grow(island[:0], size)[:size], slices.Grow(reversed[:0], size)[:size]
		clear(island)
		bases.Copy(island, 0, b.seq.packed, int(s.starts[i]), n)
		bases.ReverseComplementInto(reversed, island, n)
		seq.appendPacked(reversed, n)
	}
	b.seq = seq
	return nil
}

// orderByMates puts the islands of the pseudogenome in an order in which the mates of pairs are near each other.
func (b *builder) orderByMates(ctx context.Context, pairs []mateRange) error {
	if len(pairs) == 0 {
		return nil
	}
	s, err := b.findIslands(ctx, b.workBytes/2)
	if err != nil || s == nil {
		return err
	}
	step := 1 + countPairs(pairs)/int(min(max(1, b.workBytes/4/mateLinkBytes), 1<<40))
	c := newChains(s)
	for _, l := range b.mateLinks(s, pairs, step) {
		c.join(&l)
	}
	return b.move(ctx, s, c.moves())
}
