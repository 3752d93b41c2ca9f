package overlap

import (
	"slices"

	"orcomgo/bases"
)

// A link says where a contig is in another one, without gaps: other contig << 32 | start + linkZero << 1 | reversed. The contig, or
// its reverse complement if reversed, begins at base start of the other one; start may be negative.
type link uint64

const (
	noLink       = link(1<<64 - 1)
	linkZero     = 1 << 30
	linkStarts   = 1<<31 - 1
	maxContigLen = 1 << 27 // bases
)

func newLink(to uint32, start int, reversed bool) link {
	if start < -linkZero || start >= linkZero-1 {
		return noLink
	}
	k := link(to)<<32 | link(start+linkZero)<<1
	if reversed {
		k |= 1
	}
	return k
}

func (k link) to() uint32     { return uint32(k >> 32) }
func (k link) start() int     { return int(k>>1&linkStarts) - linkZero }
func (k link) reversed() bool { return k&1 != 0 }

// then returns the link of a contig of n bases to where its partner, of m bases, is linked to by next.
func (k link) then(next link, n, m int) link {
	if next.reversed() {
		return newLink(next.to(), next.start()+m-k.start()-n, !k.reversed())
	}
	return newLink(next.to(), next.start()+k.start(), k.reversed())
}

// joiner joins the contigs of a set, in rounds. The order of the contigs is their rank: a partner always has a smaller index.
type joiner struct {
	set       contigSet
	groups    kmerGroups
	readBases uint64 // of a read of the contigs, on average
	threads   int
	device    *accelerator // nil if there is none
	compared  int          // overlaps that were compared
	by        sampler      // of the last round
	// settled says which contigs found no partner in the last round and did not change. Two of them were compared in vain.
	// It is nil if none did.
	settled []bool
	// spare is memory for the next round, whose content does not matter: making it anew would take one thread a while.
	spare struct {
		packed, turned []byte   // of a contigSet, and of trees
		turns          []uint64 // of trees
	}
	// hard says that in some round many contigs had a partner, but most of them did not agree with what that was part of. See hardRate.
	hard bool
}

// round joins contigs that share a selected k-mer, and returns how many contigs are parts of others now.
//
//  1. The selected k-mers of all contigs are grouped. Each contig is compared with some of those of higher rank that are in its
//     groups, those with which it shares most k-mers first. The first with which it agrees where they overlap is its partner.
//  2. Since partners have a higher rank, the partners form trees. Contigs inside their partner are done with. The others are added to the
//     what their partner is part of by then, in the order of their rank, if they agree with that.
func (j *joiner) round(by sampler) int {
	if by != j.by || j.set.changed {
		j.settled = nil
	}
	j.by, j.set.changed = by, false
	var links []link
	ok := false
	if !by.distinct { // which the device does not know
		links, ok = j.device.partners(j, by)
	}
	if !ok {
		j.groups.fill(&j.set, by, j.threads, j.settled)
		links = j.partners(&j.groups)
	}
	linked := 0
	for _, l := range links {
		if l != noLink {
			linked++
		}
	}
	joined := j.merge(links)
	j.hard = j.hard || mostInVain(linked, joined)
	return joined
}

// mostInVain reports whether, of many contigs that had a partner in a round, less than half were joined.
func mostInVain(linked, joined int) bool { return linked >= 1<<13 && linked > 2*joined }

// proposer finds the partner of a contig at a time.
type proposer struct {
	*joiner
	proposals
	compared int
	reversed []byte
}

// maxPartners is how many contigs a contig is compared with at most, in one round.
const maxPartners = 64

// partners returns the link of each contig to its partner.
func (j *joiner) partners(g *kmerGroups) []link {
	links := make([]link, j.set.count())
	w := make([]*proposer, j.threads) // allocated one by one, so that two goroutines don't write to the same cache line
	inParallel(j.threads, len(links), joinRange, func(k, from, to int) {
		if w[k] == nil {
			w[k] = &proposer{joiner: j}
		}
		p := w[k]
		for c := uint32(from); c < uint32(to); c++ {
			n := int(j.set.length[c])
			if links[c] = noLink; j.set.left[c] > 0 {
				g.find(&p.proposals, c, n, j.settled)
				links[c] = p.choose(c, n)
			}
		}
	})
	for _, p := range w {
		if p != nil {
			j.compared += p.compared
		}
	}
	return links
}

// choose returns the link, of the proposals, to the partner of contig c.
func (p *proposer) choose(c uint32, n int) link {
	isReversed := false
	for _, x := range p.byVotes(min(maxPartners, int(p.set.left[c]))) {
		p.set.left[c]--
		b := p.set.of(c)
		if x.link.reversed() {
			if !isReversed {
				isReversed = true
				size := (n+3)/4 + 2*bases.Pad
				p.reversed = slices.Grow(p.reversed[:0], size)[:size]
				bases.ReverseComplementInto(p.reversed, b, n)
			}
			b = p.reversed
		}
		if p.agree(c, x.link, b, n) {
			return x.link
		}
	}
	return noLink
}

// agree reports whether a contig, n bases of b, which are those of its reverse complement if the link says so, agrees with the
// contig that the link leads to.
func (p *proposer) agree(c uint32, k link, b []byte, n int) bool {
	p.compared++
	m := int(p.set.length[k.to()])
	lo, hi := max(k.start(), 0), min(k.start()+n, m)
	limit := p.limitOf(c, hi-lo)
	return hi-lo >= seedLen && bases.CountDiffering(p.set.of(k.to()), lo, b, lo-k.start(), hi-lo, limit, nil) <= limit
}

// limitOf returns in how many bases contig c may differ from others that it overlaps by n bases. A read costs some 7 bits for each base in
// which it differs, and a base of the pseudogenome 2. So it does not pay to join a contig of many reads if it differs in many.
// Smaller factors than 2/3 suit deep runs, larger ones pairs; short overlaps may have a larger share of mismatches than long ones.
func (j *joiner) limitOf(c uint32, n int) int {
	limit := n/24 + 1 + min(n, 100)/20
	if bases, length := j.set.reads[c]*j.readBases, uint64(j.set.length[c]); bases > length {
		limit = min(limit, int(uint64(n)*length*2/(3*bases)))
	}
	return limit
}
