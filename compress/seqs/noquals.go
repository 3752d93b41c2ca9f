package seqs

import (
	"slices"

	rc "orcomgo/compress/rangecoder"
)

// noQualModel codes the mismatches of reads without qualities: how many there are, and where. In a sorted slice, reads of one
// place and length are a group. They have more and more mismatches, see tieSorter, and equal ones follow each other.
type noQualModel struct {
	equal        [4][8]rc.Prob                    // that a read equals the one before, by its mismatches and how many equal reads there are
	count        [groupReads]rc.Tree              // of the first read of a group, by how many reads of it are left
	more         [groupReads][groupCounts]rc.Tree // of the others, also by the number of the read before, less the variants of this one
	further      rc.Prob                          // that the first mismatch is not before that of the read before, which has as many
	differs      [8][512][farSince + 1]rc.Prob    // that a base does, by the mismatches left, its place, and the bases since the last one
	substitution [4][4]rc.Prob                    // by base of the pseudogenome and decision

	// Of the read before:
	mismatches int      // with its variants
	coded      int      // without them
	first      int      // the first one
	equals     uint32   // how many reads equal it, with itself
	skipped    bool     // some of its bases were skipped
	bases      []uint64 // encoding, of a group
	text       []byte   // decoding
}

const (
	// groupReads is how many reads of a group, from one on, are told apart, and groupCounts how many numbers of mismatches.
	groupReads  = 6
	groupCounts = 8
)

func newNoQualModel() *noQualModel {
	g := &noQualModel{further: rc.NewProb}
	for i := range g.equal {
		rc.FillProbs(g.equal[i][:])
	}
	for i := range g.count {
		g.count[i] = rc.NewTree(8)
		for j := range g.more[i] {
			g.more[i][j] = rc.NewTree(8)
		}
	}
	for i := range g.differs {
		for j := range g.differs[i] {
			rc.FillProbs(g.differs[i][j][:])
		}
	}
	for i := range g.substitution {
		rc.FillProbs(g.substitution[i][:])
	}
	return g
}

// codeEqual codes whether a read equals the one before, if that is of the same group, and decodes it if it does. The arguments are those of
// mismatches.code.
func (g *noQualModel) codeEqual(c *rc.Coder, w alignment, read []uint64, text []byte, skip []bool) bool {
	if w.again && skip == nil && !g.skipped {
		p := &g.equal[min(g.mismatches, 3)][min(halfOctaves(g.equals), 7)]
		if c.AdaptAny(rc.BitOf(!c.Decoding() && slices.Equal(read, g.bases)), p, longMemory) != 0 {
			g.equals++
			copy(text, g.text)
			return true
		}
	}
	g.equals, g.skipped, g.text = 1, skip != nil, text
	if !c.Decoding() && w.left > 1 {
		g.bases = append(g.bases[:0], read...)
	}
	return false
}

// codeCount codes how many mismatches a read has beside so many variants.
func (g *noQualModel) codeCount(c *rc.Coder, w alignment, n, had int) int {
	t := &g.count[min(w.left, groupReads)-1]
	if w.again {
		t = &g.more[min(w.left, groupReads)-1][min(max(g.mismatches-had, 0), groupCounts-1)]
	}
	// A placed read has far fewer than 255 mismatches: see overlap.
	return int(t.Code(c, uint32(n), longMemory))
}

// codeStart codes from which base on the first of n mismatches of a read is.
func (g *noQualModel) codeStart(c *rc.Coder, w alignment, n, first int) int {
	if n > 0 && w.again && g.coded == n && c.Adapt(rc.BitOf(first >= g.first), &g.further, longMemory) != 0 {
		return g.first
	}
	return 0
}

// codeNext codes which base of a read, base `at` or a later one, is the first of the `left` mismatches that have not come yet; the last one
// was `since` bases before. It returns n, the length of the read, if a corrupt stream has none.
func (g *noQualModel) codeNext(c *rc.Coder, next, at, since, left, n int) int {
	row := &g.differs[min(left, len(g.differs))-1]
	for ; at < n; at++ {
		if c.Adapt(rc.BitOf(at == next), &row[min(at, len(row)-1)][min(since, farSince)], longMemory) != 0 {
			break
		}
		since++
	}
	return at
}

// farSince: mismatches that are so many bases apart or more are not told apart.
const farSince = 3
