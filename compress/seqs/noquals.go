package seqs

import (
	rc "orcomgo/compress/rangecoder"
)

// noQualModel codes the mismatches of reads without qualities: how many there are, and where. In a sorted slice, reads of one
// place and length are a group. They have more and more mismatches: see tieSorter.
type noQualModel struct {
	count   [2][2 + mostBefore]rc.Tree // how many there are, by whether another read of the group follows, and as codeCount says
	further rc.Prob                    // that the first mismatch is not before that of the read before, which has as many
	differs []rc.Prob                  // that a base does, by the mismatches left, its place, and the bases since the last one

	// Of the read before:
	mismatches int // with its variants
	coded      int // without them
	first      int // the first one
}

// mostBefore is how many mismatches of the read before are told apart.
const mostBefore = 7

func newNoQualModel() *noQualModel {
	g := &noQualModel{further: rc.NewProb, differs: rc.NewProbs(differsLeft * differsAt * differsSince)}
	for i := range g.count {
		for j := range g.count[i] {
			g.count[i][j] = rc.NewTree(8)
		}
	}
	return g
}

// codeCount codes how many mismatches a read has beside so many variants: if it is not the first one of its group, by how many that one has,
// less the variants.
func (g *noQualModel) codeCount(c *rc.Coder, w alignment, n, had int) int {
	before := 0
	if w.again {
		before = 1 + min(max(g.mismatches-had, 0), mostBefore)
	}
	// A placed read has far fewer than 255 mismatches: see overlap.
	return int(g.count[rc.BitOf(w.more)][before].Code(c, uint32(n), longMemory))
}

// codeStart codes from which base on the first of n mismatches of a read is.
func (g *noQualModel) codeStart(c *rc.Coder, w alignment, n, first int) int {
	if n > 0 && w.again && g.coded == n && c.Adapt(rc.BitOf(first >= g.first), &g.further, longMemory) != 0 {
		return g.first
	}
	return 0
}

// differsLeft, differsAt and differsSince are how many numbers of mismatches, places and distances differs tells apart.
const (
	differsLeft  = 8
	differsAt    = 512
	differsSince = 4
)

// codeNext codes which base of a read, base `at` or a later one, is the first of the `left` mismatches that have not come yet; the last one
// was `since` bases before. It returns n, the length of the read, if a corrupt stream has none.
func (g *noQualModel) codeNext(c *rc.Coder, next, at, since, left, n int) int {
	for at < n {
		// The bases from here on to the last one that has a prob of its own, or alone.
		row := g.differs[((min(left, differsLeft)-1)*differsSince+min(since, differsSince-1))*differsAt:]
		from := min(at, differsAt-1)
		to := from + 1
		if since >= differsSince-1 {
			to = max(min(n-at+from, differsAt-1), to)
		}
		k := c.AdaptFirst(row[from:to], next-at)
		if at += k; k < to-from {
			return at
		}
		since += k
	}
	return at
}
