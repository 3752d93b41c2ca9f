package overlap

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"
)

// TestLinks: links keep what they are made of, and starts out of range give no link.
func TestLinks(t *testing.T) {
	for _, to := range []uint32{0, 77, 1<<32 - 1} {
		for _, start := range []int{-linkZero, -1, 0, 5, linkZero - 2} {
			for _, reversed := range []bool{false, true} {
				k := newLink(to, start, reversed)
				if k == noLink || k.to() != to || k.start() != start || k.reversed() != reversed {
					t.Errorf("%d %d %v became %d %d %v", to, start, reversed, k.to(), k.start(), k.reversed())
				}
			}
		}
		for _, start := range []int{-linkZero - 1, linkZero - 1, linkZero, 1 << 40} {
			if k := newLink(to, start, false); k != noLink {
				t.Errorf("start %d gives a link to %d", start, k.start())
			}
		}
	}
}

// TestLinksOneAfterAnother: a contig that lies in its partner, which lies in another one, lies in that where its bases are, on whichever
// strands they are.
func TestLinksOneAfterAnother(t *testing.T) {
	r := rand.New(rand.NewSource(60))
	part := func(b []byte, from, n int, reverse bool) []byte {
		c := b[from : from+n]
		if reverse {
			return reversed(c)
		}
		return slices.Clone(c)
	}
	for range 200 {
		root := randomBases(r, 300)
		for strands := range 4 {
			m := 100 + r.Intn(100)
			start := r.Intn(300 - m)
			partner := part(root, start, m, strands&1 != 0)
			next := newLink(9, start, strands&1 != 0)
			n := 1 + r.Intn(m)
			at := r.Intn(m - n + 1)
			c := part(partner, at, n, strands&2 != 0)
			k := newLink(4, at, strands&2 != 0).then(next, n, m)
			if k.to() != 9 || !bytes.Equal(part(root, k.start(), n, k.reversed()), c) {
				t.Fatalf("strands %b: %d bases at %d of %d at %d became %d, reversed: %v", strands, n, at, m, start, k.start(), k.reversed())
			}
		}
	}
	if k := newLink(1, linkZero/2, false).then(newLink(0, linkZero/2, false), 10, 10); k != noLink {
		t.Errorf("a link beyond the range became %d", k.start())
	}
}

// randomTrees returns contigs with random links to contigs of higher rank.
func randomTrees(r *rand.Rand, n, threads int) *trees {
	t := &trees{joiner: &joiner{threads: threads}, inside: make([]bool, n), joined: make([]bool, n), links: make([]link, n)}
	t.set.grow(n, 1, func(int) (int, uint64) { return 50 + r.Intn(100), uint64(1 + r.Intn(9)) }, func(int, []byte) {})
	far := 1 + r.Intn(n)
	for c := range t.links {
		t.links[c] = noLink
		if c == 0 || r.Intn(20) == 0 {
			continue
		}
		p := max(0, c-1-r.Intn(far))
		start, reverse := r.Intn(150)-80, r.Intn(2) == 1
		if r.Intn(3) == 0 && t.set.length[c] <= t.set.length[p] {
			start = r.Intn(int(t.set.length[p]-t.set.length[c]) + 1)
		}
		t.links[c] = newLink(uint32(p), start, reverse)
		t.inside[c] = start >= 0 && start+int(t.set.length[c]) <= int(t.set.length[p])
	}
	return t
}

// TestTreesOfPartners: links skip contigs that lie inside others, and lead to roots, as by recursion; members are grouped by their root.
func TestTreesOfPartners(t *testing.T) {
	r := rand.New(rand.NewSource(61))
	for _, n := range []int{1, 2, 10, 1000, 20_000} {
		for range 3 {
			trees := randomTrees(r, n, 1+r.Intn(3))
			links, inside := slices.Clone(trees.links), slices.Clone(trees.inside)
			length := func(c uint32) int { return int(trees.set.length[c]) }
			var direct, root func(c uint32) link
			direct = func(c uint32) link { // to a contig that is not inside another
				k := links[c]
				for k != noLink && inside[k.to()] {
					k = k.then(links[k.to()], length(c), length(k.to()))
				}
				return k
			}
			root = func(c uint32) link {
				k := direct(c)
				for k != noLink && links[k.to()] != noLink {
					k = k.then(direct(k.to()), length(c), length(k.to()))
				}
				return k
			}
			trees.leaveOutInside()
			trees.findRoots()
			members := 0
			for c := range uint32(n) {
				if trees.links[c] != direct(c) || trees.inside[c] != inside[c] {
					t.Fatalf("%d contigs: contig %d is linked to %d", n, c, trees.links[c].to())
				}
				if trees.roots[c] != root(c) {
					t.Fatalf("%d contigs: contig %d has root %d, want %d", n, c, trees.roots[c].to(), root(c).to())
				}
				if links[c] != noLink && !inside[c] {
					members++
				}
			}
			roots := map[uint32]bool{}
			for _, group := range trees.members {
				root := trees.roots[group[0]].to()
				for i, c := range group {
					if trees.roots[c].to() != root || i > 0 && c <= group[i-1] || i == 0 && roots[root] {
						t.Fatalf("member %d of a group is %d, of root %d; want all of one root, ascending", i, c, trees.roots[c].to())
					}
				}
				roots[root] = true
				members -= len(group)
			}
			if members != 0 {
				t.Fatalf("%d members are in no group", members)
			}
		}
	}
}

// TestJumpsOutOfRange: links of more than 2^30 bases are dropped. The contigs are kept.
func TestJumpsOutOfRange(t *testing.T) {
	j := &joiner{threads: 2, readBases: 1}
	j.set.grow(4, 1, func(int) (int, uint64) { return 40, 2 }, func(int, []byte) {})
	far := newLink(0, 0, false)
	links := []link{noLink, newLink(0, linkZero-50, false), newLink(1, 45, false), far}
	tr := &trees{joiner: j, links: links, inside: make([]bool, 4)}
	tr.leaveOutInside()
	tr.findRoots()
	if tr.roots[2] == noLink || tr.roots[1] == noLink || tr.roots[3] != far {
		t.Errorf("roots %v", tr.roots)
	}
	tr.links[2] = newLink(1, 49, false)
	tr.findRoots()
	if members := slices.Concat(tr.members...); tr.roots[2] != noLink || slices.Contains(members, 2) || len(members) != 2 {
		t.Errorf("roots %v, members %v", tr.roots, tr.members)
	}
}

// TestUnionAgrees: a contig is compared with the bases of all pieces that are there, of either strand.
func TestUnionAgrees(t *testing.T) {
	r := rand.New(rand.NewSource(62))
	for range 300 {
		whole := randomBases(r, 2000) // base 0 of the union is base 1000
		j := &joiner{threads: 1, readBases: 1}
		tr := &trees{joiner: j}
		var u union
		var seqs [][]byte
		add := func(b []byte) uint32 {
			seqs = append(seqs, b)
			return uint32(len(seqs) - 1)
		}
		lo, hi := 950, 1050
		u.right = append(u.right, joinedPiece{at: int32(lo - 1000), n: int32(hi - lo), contig: add(whole[lo:hi])})
		turnedOver := map[uint32]bool{}
		for range r.Intn(12) {
			n, skip, reverse := 1+r.Intn(60), r.Intn(20), r.Intn(2) == 1
			left := r.Intn(2) == 0
			from, to := hi-skip, hi+n
			if left {
				from, to = lo-n, lo+skip
			}
			c := add(whole[from:to])
			turnedOver[c] = reverse
			if left {
				u.left = append(u.left, joinedPiece{at: int32(from - 1000), n: int32(n), contig: c, reversed: reverse})
				lo = from
			} else {
				u.right = append(u.right, joinedPiece{at: int32(hi - 1000), n: int32(n), from: int32(skip), contig: c, reversed: reverse})
				hi = to
			}
		}
		u.lo, u.hi = lo-1000, hi-1000
		from := lo - 40 + r.Intn(hi-lo)
		n := 60 + r.Intn(200)
		b := slices.Clone(whole[from : from+n])
		overlap := min(hi, from+n) - max(lo, from)
		limit := max(overlap, 0)/24 + 1 + min(max(overlap, 0), 100)/20
		wrong := r.Intn(2*limit + 2)
		for _, i := range r.Perm(max(overlap, 0))[:min(wrong, max(overlap, 0))] {
			b[max(lo, from)-from+i] ^= 1
		}
		c := add(b)
		j.set.grow(len(seqs), 1, func(i int) (int, uint64) { return len(seqs[i]), 1 }, func(i int, dst []byte) { packBases(dst, seqs[i]) })
		tr.turns = make([]uint64, len(seqs))
		for i, s := range seqs { // a piece of a contig that is reversed is one of its reverse complement: here, of the same bases
			if turnedOver[uint32(i)] {
				tr.turns[i] = uint64(len(tr.turned))
				tr.turned = append(tr.turned, pack(s)...)
			}
		}
		want := overlap >= seedLen && min(wrong, overlap) <= limit
		if got := u.agrees(tr, c, j.set.of(c), from-1000, from-1000+n); got != want {
			t.Fatalf("%d of %d bases differ from %d pieces: agrees: %v", wrong, overlap, len(u.left)+len(u.right), got)
		}
	}
}
