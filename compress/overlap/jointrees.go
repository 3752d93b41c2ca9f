package overlap

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"orcomgo/bases"
	"orcomgo/internal/largepages"
	"orcomgo/internal/tasks"
)

// joinedPiece is a part of a joined contig: n bases of a contig of the round before, or of its reverse complement, from base from on. It
// begins at base at of the joined contig, counted from the first base of its first contig.
type joinedPiece struct {
	at, n    int32
	from     int32
	contig   uint32
	reversed bool
}

// trees are the trees of partners of a round.
type trees struct {
	*joiner
	links  []link // of each contig to its partner
	inside []bool // the contig lies inside its partner

	roots   []link     // of contigs that are not inside another one, by where they are in the root of their tree
	members [][]uint32 // of each tree of several of these, without its root, ascending
	joined  []bool     // the contig is part of a joined contig, other than as its root
	unionOf []uint32   // of each contig that is in no other: the number of its union among those of its tree

	pieces  [][]joinedPiece // of each joined contig
	pieceOf []uint32        // for each contig, 1 + the number in pieces of the joined contig whose root it is; 0 if it is none

	turned []byte   // the reverse complements of contigs
	turns  []uint64 // where in turned that of a contig begins
}

// linkRange is how many contigs a goroutine processes at a time where there is little to do for each.
const linkRange = 1 << 13

// merge joins the contigs along links, replaces the set by the result, and returns how many contigs became parts of others.
func (j *joiner) merge(links []link) int {
	n := len(links)
	t := &trees{joiner: j, links: links, inside: make([]bool, n)}
	var linked atomic.Bool
	inParallel(t.threads, n, linkRange, func(_, from, to int) {
		any := false
		for c := from; c < to; c++ {
			k := links[c]
			if k == noLink {
				continue
			}
			any = true
			m := int(j.set.length[k.to()])
			t.inside[c] = k.start() >= 0 && k.start()+int(j.set.length[c]) <= m
		}
		if any {
			linked.Store(true)
		}
	})
	if !linked.Load() {
		return 0
	}
	t.leaveOutInside()
	t.findRoots()
	t.turn()
	t.joinMembers()
	t.rebuild()
	return n - j.set.count()
}

// jump returns links in which that of each contig for which step is true is replaced by one to where the contig that it leads to is linked
// itself, until none leads to a contig for which step is true (pointer jumping; Wyllie 1979). Links of more than 2^30 bases are dropped.
func (t *trees) jump(links []link, step func(c uint32) bool) []link {
	in, out := links, make([]link, len(links))
	var spare []link
	for {
		var changed atomic.Bool
		inParallel(t.threads, len(links), linkRange, func(_, from, to int) {
			any := false
			for c := from; c < to; c++ {
				k := in[c]
				if k != noLink && step(k.to()) {
					any = true
					if p := in[k.to()]; p == noLink {
						k = noLink
					} else {
						k = k.then(p, int(t.set.length[c]), int(t.set.length[k.to()]))
					}
				}
				out[c] = k
			}
			if any {
				changed.Store(true)
			}
		})
		if !changed.Load() {
			return out
		}
		if spare == nil {
			spare = make([]link, len(links))
		}
		in, out, spare = out, spare, out // links are kept as they are
	}
}

// leaveOutInside links contigs to what their partner lies inside of, so that no link leads to a contig that lies inside another.
func (t *trees) leaveOutInside() {
	t.links = t.jump(t.links, func(c uint32) bool { return t.inside[c] })
	inParallel(t.threads, len(t.links), linkRange, func(_, from, to int) {
		for c := from; c < to; c++ {
			if t.links[c] == noLink {
				t.inside[c] = false
			}
		}
	})
}

// findRoots finds the root of each contig that is not inside another, and groups them by it.
func (t *trees) findRoots() {
	t.roots = t.jump(t.links, func(c uint32) bool { return t.links[c] != noLink && !t.inside[c] })
	// Each goroutine groups those of some of the roots.
	parts := uint32(1)
	for int(parts) < t.threads && len(t.roots)/int(parts) > linkRange {
		parts *= 2
	}
	groups := make([][][]uint32, parts)
	tasks.Each(int(parts), t.threads, func(_, part int) { groups[part] = t.groupMembers(uint32(part), parts) })
	t.members = slices.Concat(groups...)
}

// groupMembers returns the groups of members whose root, divided by parts, which is a power of two, leaves the remainder part.
func (t *trees) groupMembers(part, parts uint32) (groups [][]uint32) {
	shift := bits.TrailingZeros32(parts)
	var found []uint32
	ends := make([]uint32, len(t.roots)>>shift+1) // of the members of each root
	for c, k := range t.roots {
		if k != noLink && k.to()&(parts-1) == part && !t.inside[c] {
			found = append(found, uint32(c))
			ends[k.to()>>shift]++
		}
	}
	at := uint32(0)
	for r, n := range ends {
		ends[r], at = at, at+n
	}
	members := make([]uint32, len(found))
	for _, c := range found {
		to := &ends[t.roots[c].to()>>shift]
		members[*to] = c
		*to++
	}
	at = 0
	for _, end := range ends {
		if end > at {
			groups = append(groups, members[at:end:end])
			at = end
		}
	}
	return groups
}

// turn makes the reverse complements of the contigs that are reversed in their root.
func (t *trees) turn() {
	t.turns = resized(t.spare.turns, t.set.count(), 0)
	size := placeInParallel(t.threads, len(t.members), func(g int) (size uint64) {
		for _, c := range t.members[g] {
			if t.roots[c].reversed() {
				size += uint64(t.set.length[c]+3)/4 + bases.Pad
			}
		}
		return size
	}, func(g int, at uint64) {
		for _, c := range t.members[g] {
			if t.roots[c].reversed() {
				t.turns[c] = at
				at += uint64(t.set.length[c]+3)/4 + bases.Pad
			}
		}
	})
	t.turned = resized(t.spare.turned, int(size+bases.Pad), 0)
	t.spare.turns, t.spare.turned = t.turns, t.turned
	inParallel(t.threads, len(t.members), joinRange, func(_, from, to int) {
		for _, group := range t.members[from:to] {
			for _, c := range group {
				if t.roots[c].reversed() {
					bases.ReverseComplementInto(t.turned[t.turns[c]:], t.set.of(c), int(t.set.length[c]))
				}
			}
		}
	})
}

// of returns the packed bases of a contig, or those of its reverse complement.
func (t *trees) of(c uint32, reversed bool) []byte {
	if reversed {
		return t.turned[t.turns[c]:]
	}
	return t.set.of(c)
}

// joinMembers joins the members of each tree to its root.
func (t *trees) joinMembers() {
	t.joined, t.pieceOf = make([]bool, t.set.count()), make([]uint32, t.set.count())
	t.unionOf = make([]uint32, t.set.count())
	// Reads of contigs inside others count for these, which are inside none.
	reads := t.set.reads
	inParallel(t.threads, len(t.inside), linkRange, func(_, from, to int) {
		for c := from; c < to; c++ {
			if t.inside[c] {
				atomic.AddUint64(&reads[t.links[c].to()], reads[c])
			}
		}
	})
	w := make([]unions, t.threads)
	inParallel(t.threads, len(t.members), 8, func(k, from, to int) {
		for g := from; g < to; g++ {
			w[k].join(t, t.members[g])
		}
	})
	for i := range w {
		for k, r := range w[i].roots {
			t.pieces = append(t.pieces, w[i].pieces[k])
			t.pieceOf[r] = uint32(len(t.pieces))
		}
	}
}

// piecesOf returns the pieces of a contig; nil if it is as it was.
func (t *trees) piecesOf(c uint32) []joinedPiece {
	if k := t.pieceOf[c]; k > 0 {
		return t.pieces[k-1]
	}
	return nil
}

// union is a joined contig under construction: pieces in the order of their places, those before that of its first contig in reverse.
type union struct {
	root        uint32 // its first contig
	left, right []joinedPiece
	lo, hi      int // bases that the pieces cover
}

// piece returns a piece, counted from the leftmost.
func (u *union) piece(i int) *joinedPiece {
	if i < len(u.left) {
		return &u.left[len(u.left)-1-i]
	}
	return &u.right[i-len(u.left)]
}

// unions are the joined contigs of the trees that a goroutine joins.
type unions struct {
	all    []union         // of a tree; the first one has its root
	roots  []uint32        // contigs that others were joined to
	pieces [][]joinedPiece // of the joined contig of each of these
}

// join adds the members of a tree, in their order, to the unions of their partners. A member that does not agree with that begins another
// union.
func (u *unions) join(t *trees, members []uint32) {
	root := t.roots[members[0]].to()
	u.all = u.all[:0]
	u.begin(t, root, newLink(root, 0, false))
	for _, c := range members {
		k := t.roots[c]
		i := t.unionOf[t.links[c].to()]
		if x := &u.all[i]; x.add(t, c, k) {
			t.unionOf[c], t.joined[c] = i, true
			t.set.reads[x.root] += t.set.reads[c]
		} else {
			u.begin(t, c, k)
		}
	}
	for i := range u.all {
		x := &u.all[i]
		if len(x.left)+len(x.right) == 1 {
			continue
		}
		all := make([]joinedPiece, 0, len(x.left)+len(x.right))
		for i := range cap(all) {
			all = append(all, *x.piece(i))
		}
		u.roots, u.pieces = append(u.roots, x.root), append(u.pieces, all)
	}
}

// begin begins a union with a contig, which k places in the root of the tree.
func (u *unions) begin(t *trees, c uint32, k link) {
	i := len(u.all)
	t.unionOf[c] = uint32(i)
	u.all = slices.Grow(u.all, 1)[:i+1] // with the memory of earlier unions
	x := &u.all[i]
	n := int(t.set.length[c])
	x.root, x.lo, x.hi = c, k.start(), k.start()+n
	x.left = x.left[:0]
	x.right = append(x.right[:0], joinedPiece{at: int32(x.lo), n: int32(n), contig: c, reversed: k.reversed()})
}

// add adds a contig, which k places in the root of the tree, if it agrees with what is there.
func (u *union) add(t *trees, c uint32, k link) bool {
	from, to := k.start(), k.start()+int(t.set.length[c])
	if max(to, u.hi)-min(from, u.lo) > maxContigLen || !u.agrees(t, c, t.of(c, k.reversed()), from, to) {
		return false
	}
	if from < u.lo {
		u.left = append(u.left, joinedPiece{at: int32(from), n: int32(u.lo - from), contig: c, reversed: k.reversed()})
		u.lo = from
	}
	if to > u.hi {
		u.right = append(u.right,
			joinedPiece{at: int32(u.hi), n: int32(to - u.hi), from: int32(u.hi - from), contig: c, reversed: k.reversed()})
		u.hi = to
	}
	return true
}

// agrees reports whether bases b, which are to be at from..to-1, agree with the pieces that are there.
func (u *union) agrees(t *trees, c uint32, b []byte, from, to int) bool {
	lo, hi := max(from, u.lo), min(to, u.hi)
	if hi-lo < seedLen {
		return false
	}
	limit := t.limitOf(c, hi-lo)
	i, k := 0, len(u.left)+len(u.right)
	for i+1 < k { // the last piece that begins at lo or before
		if m := (i + k) / 2; int(u.piece(m).at) <= lo {
			i = m
		} else {
			k = m
		}
	}
	for at := lo; at < hi; i++ {
		p := u.piece(i)
		end := min(hi, int(p.at+p.n))
		limit -= bases.CountDiffering(t.of(p.contig, p.reversed), int(p.from)+at-int(p.at), b, at-from, end-at, limit, nil)
		if limit < 0 {
			return false
		}
		at = end
	}
	return true
}

// rebuild replaces the set by the joined contigs and those that are as they were, in the order of their new rank: those with more
// reads first, of as many that which came first before.
func (t *trees) rebuild() {
	old := t.set
	kept := selected(t.threads, old.count(), func(c int) bool { return !t.inside[c] && !t.joined[c] })
	old.byRank(kept, t.threads)
	t.settled = make([]bool, len(kept))
	set := contigSet{start: largepages.Make[uint64](len(kept)), length: largepages.Make[uint32](len(kept)),
		reads: largepages.Make[uint64](len(kept)), left: largepages.Make[uint32](len(kept))}
	size := placeInParallel(t.threads, len(kept), func(i int) uint64 {
		c := kept[i]
		n := old.length[c]
		if p := t.piecesOf(c); p != nil {
			n = uint32(p[len(p)-1].at + p[len(p)-1].n - p[0].at)
		} else {
			t.settled[i] = t.links[c] == noLink
		}
		set.length[i], set.reads[i] = n, old.reads[c]
		set.left[i] = old.left[c] + n - old.length[c] // work is at most proportional to the bases of all contigs
		return uint64(n+3) / 4
	}, func(i int, at uint64) { set.start[i] = at })
	set.bases = set.basesFrom(0)
	set.packed = resized(t.spare.packed, int(size+bases.Pad), 0)
	inParallel(t.threads, len(kept), joinRange, func(_, from, to int) {
		for i := from; i < to; i++ {
			t.copyContig(set.packed[set.start[i]:], kept[i], int(set.length[i]))
		}
	})
	t.set, t.spare.packed = set, old.packed
}

// copyContig copies joined contig c, of n bases, to dst.
func (t *trees) copyContig(dst []byte, c uint32, n int) {
	pieces := t.piecesOf(c)
	if pieces == nil {
		copy(dst[:(n+3)/4], t.set.of(c))
		return
	}
	clear(dst[:(n+3)/4])
	for _, p := range pieces {
		bases.Copy(dst, int(p.at-pieces[0].at), t.of(p.contig, p.reversed), int(p.from), int(p.n))
	}
}
