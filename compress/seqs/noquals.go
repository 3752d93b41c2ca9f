package seqs

import (
	rc "orcomgo/compress/rangecoder"
)

// noQualModel codes the mismatches of a read without qualities: how many there are, and where.
type noQualModel struct {
	count  [1 + 6*restParts]rc.Tree // how many there are: of a read by itself; of one of a group as codeLone says
	where  []rc.Prob                // that a base differs, by the mismatches left, and as rows
	groups *groups
}

func newNoQualModel() *noQualModel {
	g := &noQualModel{where: rc.NewProbs(differsLeft * differsRows), groups: newGroups()}
	for i := range g.count {
		g.count[i] = rc.NewTree(8)
	}
	return g
}

// differsLeft is how many numbers of mismatches are told apart. Rows of probabilities are those by bases since the last mismatch, of
// which differsSince numbers are told apart, and by place, of which differsAt are.
const (
	differsLeft  = 8
	differsAt    = 512
	differsSince = 4
	differsRows  = differsSince * differsAt
)

// codeFirst codes, with rows, which base of a read, from base `at` on and before base `end`, is the first one with a mismatch; end if
// none is. The last one was `since` bases before.
func codeFirst(c *rc.Coder, rows []rc.Prob, next, at, since, end int) int {
	for at < end {
		// The bases from here on to the last one that has a prob of its own, or alone.
		row := rows[min(since, differsSince-1)*differsAt:]
		from := min(at, differsAt-1)
		to := from + 1
		if since >= differsSince-1 {
			to = max(min(end-at+from, differsAt-1), to)
		}
		k := c.AdaptFirst(row[from:to], next-at)
		if at += k; k < to-from {
			return at
		}
		since += k
	}
	return at
}
