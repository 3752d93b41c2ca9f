package overlap

import (
	"slices"
	"sync/atomic"
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

	// Of contigs that are not inside another one, by where they are in the root of their tree.
	roots   []link
	members []uint32 // grouped by root, ascending
	joined  []bool   // the contig is part of a joined contig, other than as its root

	pieces [][]joinedPiece // by contig; nil if the contig is as it was
	turned []byte          // the reverse complements of contigs
	turns  []uint64        // where in turned that of a contig begins
}

// merge joins the contigs along links, replaces the set by the result, and returns how many contigs became parts of others.
func (j *joiner) merge(links []link) int {
	n := len(links)
	t := &trees{joiner: j, links: links, inside: make([]bool, n), joined: make([]bool, n)}
	linked := 0
	for c, k := range links {
		if k == noLink {
			continue
		}
		linked++
		m := int(j.set.length[k.to()])
		t.inside[c] = k.start() >= 0 && k.start()+int(j.set.length[c]) <= m
	}
	if linked == 0 {
		return 0
	}
	t.leaveOutInside()
	t.findRoots()
	t.turn()
	t.joinMembers()
	before := n
	t.rebuild()
	return before - j.set.count()
}

// jump replaces the link of each contig for which step is true by one to where the contig that it leads to is linked itself, until
// none leads to a contig for which step is true (pointer jumping; Wyllie 1979). Links of more than 2^30 bases are dropped.
func (t *trees) jump(links []link, step func(c uint32) bool) []link {
	next := make([]link, len(links))
	for {
		var changed atomic.Bool
		inParallel(t.threads, len(links), 1<<13, func(_, from, to int) {
			any := false
			for c := from; c < to; c++ {
				k := links[c]
				if k != noLink && step(k.to()) {
					any = true
					if p := links[k.to()]; p == noLink {
						k = noLink
					} else {
						k = k.then(p, int(t.set.length[c]), int(t.set.length[k.to()]))
					}
				}
				next[c] = k
			}
			if any {
				changed.Store(true)
			}
		})
		links, next = next, links
		if !changed.Load() {
			return links
		}
	}
}

// leaveOutInside links contigs to what their partner lies inside of, so that no link leads to a contig that lies inside another.
func (t *trees) leaveOutInside() {
	t.links = t.jump(slices.Clone(t.links), func(c uint32) bool { return t.inside[c] })
	for c := range t.inside {
		if t.links[c] == noLink {
			t.inside[c] = false
		}
	}
}

// findRoots finds the root of each contig that is not inside another, and groups them.
func (t *trees) findRoots() {
	at := slices.Clone(t.links)
	t.roots = t.jump(at, func(c uint32) bool { return t.links[c] != noLink && !t.inside[c] })
	counts := make([]uint32, t.set.count()+1)
	for c, k := range t.roots {
		if k != noLink && !t.inside[c] {
			counts[k.to()+1]++
		}
	}
	for c := range t.set.count() {
		counts[c+1] += counts[c]
	}
	t.members = make([]uint32, counts[len(counts)-1])
	for c, k := range t.roots {
		if k != noLink && !t.inside[c] {
			t.members[counts[k.to()]] = uint32(c)
			counts[k.to()]++
		}
	}
}

// turn makes the reverse complements of the contigs that are reversed in their root.
func (t *trees) turn() {
	t.turns = make([]uint64, t.set.count())
	size := uint64(0)
	for _, c := range t.members {
		if t.roots[c].reversed() {
			t.turns[c] = size
			size += uint64(t.set.length[c]+3)/4 + padBytes
		}
	}
	t.turned = make([]byte, size+padBytes)
	inParallel(t.threads, len(t.members), joinRange, func(_, from, to int) {
		for _, c := range t.members[from:to] {
			if t.roots[c].reversed() {
				reverseComplementInto(t.turned[t.turns[c]:], t.set.of(c), int(t.set.length[c]))
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
	t.pieces = make([][]joinedPiece, t.set.count())
	type group struct{ from, to int }
	var groups []group
	for i := 0; i < len(t.members); {
		k := i + 1
		for k < len(t.members) && t.roots[t.members[k]].to() == t.roots[t.members[i]].to() {
			k++
		}
		groups = append(groups, group{i, k})
		i = k
	}
	// Reads of contigs inside others count for these.
	reads := t.set.reads
	for c, in := range t.inside {
		if in {
			reads[t.links[c].to()] += reads[c]
		}
	}
	w := make([]union, t.threads)
	inParallel(t.threads, len(groups), 8, func(k, from, to int) {
		for _, g := range groups[from:to] {
			w[k].join(t, t.members[g.from:g.to])
		}
	})
}

// union is a joined contig under construction: pieces in the order of their places, those before the root's in reverse.
type union struct {
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

// join adds members, in their order, to their root.
func (u *union) join(t *trees, members []uint32) {
	root := t.roots[members[0]].to()
	n := int(t.set.length[root])
	u.left = u.left[:0]
	u.right = append(u.right[:0], joinedPiece{n: int32(n), contig: root})
	u.lo, u.hi = 0, n
	for _, c := range members {
		if p := t.links[c].to(); p != root && !t.joined[p] {
			continue
		}
		k, n := t.roots[c], int(t.set.length[c])
		from, to := k.start(), k.start()+n
		b := t.of(c, k.reversed())
		if max(to, u.hi)-min(from, u.lo) > maxContigLen || !u.agrees(t, c, b, from, to) {
			continue
		}
		t.joined[c] = true
		t.set.reads[root] += t.set.reads[c]
		if from < u.lo {
			u.left = append(u.left, joinedPiece{at: int32(from), n: int32(u.lo - from), contig: c, reversed: k.reversed()})
			u.lo = from
		}
		if to > u.hi {
			u.right = append(u.right,
				joinedPiece{at: int32(u.hi), n: int32(to - u.hi), from: int32(u.hi - from), contig: c, reversed: k.reversed()})
			u.hi = to
		}
	}
	if len(u.left)+len(u.right) > 1 {
		all := make([]joinedPiece, 0, len(u.left)+len(u.right))
		for i := range cap(all) {
			all = append(all, *u.piece(i))
		}
		t.pieces[root] = all
	}
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
		limit -= countMismatches(t.of(p.contig, p.reversed), int(p.from)+at-int(p.at), b, at-from, end-at, limit, nil)
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
	kept := make([]uint32, 0, old.count()-len(t.members)/2)
	for c := range old.length {
		if !t.inside[c] && !t.joined[c] {
			kept = append(kept, uint32(c))
		}
	}
	old.byRank(kept)
	settled := make([]bool, len(kept))
	for i, c := range kept {
		settled[i] = t.pieces[c] == nil && t.links[c] == noLink
	}
	t.settled = settled
	set := contigSet{start: make([]uint64, len(kept)), length: make([]uint32, len(kept)), reads: make([]uint64, len(kept)),
		left: make([]uint32, len(kept))}
	size := uint64(0)
	for i, c := range kept {
		n := old.length[c]
		if p := t.pieces[c]; p != nil {
			n = uint32(p[len(p)-1].at + p[len(p)-1].n - p[0].at)
		}
		set.start[i], set.length[i], set.reads[i] = size, n, old.reads[c]
		set.left[i] = old.left[c] + n - old.length[c] // work is at most proportional to the bases of all contigs
		set.bases += uint64(n)
		size += uint64(n+3) / 4
	}
	set.packed = make([]byte, size+padBytes)
	const part = 1 << 20 // bases that a goroutine copies of a long contig at a time; a multiple of 4
	var long []int
	inParallel(t.threads, len(kept), joinRange, func(_, from, to int) {
		for i := from; i < to; i++ {
			if n := int(set.length[i]); n < part {
				t.copyContig(set.packed[set.start[i]:], kept[i], 0, n)
			}
		}
	})
	for i, n := range set.length {
		if n >= part {
			long = append(long, i)
		}
	}
	for _, i := range long {
		inParallel(t.threads, int(set.length[i]), part, func(_, from, to int) {
			t.copyContig(set.packed[set.start[i]:], kept[i], from, to)
		})
	}
	t.set = set
}

// copyContig copies bases from..to-1 of joined contig c to dst.
func (t *trees) copyContig(dst []byte, c uint32, from, to int) {
	pieces := t.pieces[c]
	if pieces == nil {
		copy(dst[from/4:(to+3)/4], t.set.of(c)[from/4:])
		return
	}
	first := int(pieces[0].at)
	for _, p := range pieces {
		lo, hi := max(int(p.at)-first, from), min(int(p.at+p.n)-first, to)
		if lo < hi {
			copyBases(dst, lo, t.of(p.contig, p.reversed), int(p.from)+lo-(int(p.at)-first), hi-lo)
		}
	}
}
