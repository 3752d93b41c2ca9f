package longreads

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"orcomgo/bases"
	"orcomgo/internal/tasks"
)

// The assembler keeps segments: stretches of reads, none of which was there when it was added. Where a read goes on after the end of
// a segment, or connects the ends of two, the ends are linked. At the end, segments that are linked are written one after another.

// segment is a range of the bases of the assembler, behind that of the segment before.
type segment struct {
	to     int     // where it ends
	lo, hi int     // what is used of it: links leave out what is beyond the bases where they were found
	link   [2]link // of the left and of the right end
}

// link leads to an end of a segment.
type link struct {
	segment int
	end     int // 0 left, 1 right
	set     bool
}

const (
	// minJoinAnchors is how many k-mers a read and a segment share at least.
	minJoinAnchors = 3
	// minExtension is how many bases a read has beyond a segment's end at least for this to be extended, and
	// minSegment how many bases a segment has that is not linked.
	minExtension = 100
	minSegment   = 500
	// maxRepeat is the length of a match, in bases, from which on it is believed though read and segment both go on differently after
	// it. Shorter ones are often copies of a repeat, which is then added once more in its surroundings.
	maxRepeat = 8000
	// Ends are near if they are as close as this, or as so many distances between k-mers of the chain, but not more than maxNear.
	minNear    = 150
	nearSpaces = 6
	maxNear    = 2000
)

type assembler struct {
	config   Config
	seq      *Sequence // the segments, one after another
	segments []segment
	serial   planner
	// If strict is set, reads join only segments from which they do not differ more than two reads with so many edits a base.
	strict   bool
	editRate float64
}

func newAssembler(c Config) *assembler {
	return &assembler{config: c, seq: NewSequence(make(bases.Words, bases.WordsLen(0)), 0, 1)}
}

// side is one side of a chain: where it ends in the read and in a segment.
type side struct {
	read, place int
	segment     int
	end         int  // of the segment to which the sequence goes on
	near        bool // the segment's end is near
	linked      bool // and linked
	open        bool // read and segment go on differently
}

// match is a chain with its two sides, in the direction of the read.
type match struct{ left, right side }

// step is something that a read adds: bases from..to-1 of it, if there are any, and links to the segments before and after.
type step struct {
	from, to      int
	before, after *side // nil: no link
}

// planner finds what a read adds. It has memory of its own, so each goroutine needs one.
type planner struct {
	chainer chainer
	matches []match
	steps   []step
}

// plan returns what a read adds. It is valid until the next call.
func (p *planner) plan(a *assembler, r Read) []step {
	p.steps, p.matches = p.steps[:0], p.matches[:0]
	chains := p.chainer.find(a.seq.index, r.Bases, r.N, minJoinAnchors)
	for i := range chains {
		if a.strict && p.differs(&chains[i], r.N, a.editRate) {
			continue
		}
		p.matches = append(p.matches, a.matchOf(&chains[i], r.N))
	}
	p.compare()
	at := 0
	var before *side
	for i := range p.matches {
		m := &p.matches[i]
		p.fill(at, m.left.read, before, &m.left)
		at, before = m.right.read, &m.right
	}
	p.fill(at, r.N, before, nil)
	return p.steps
}

// differs reports whether a chain lacks more of the read's k-mers than two reads with so many edits a base lack of each other.
func (p *planner) differs(c *chain, n int, rate float64) bool {
	from, to := c.span(n)
	first := sort.Search(len(p.chainer.kmers), func(i int) bool { return int(p.chainer.kmers[i].pos) >= from })
	end := sort.Search(len(p.chainer.kmers), func(i int) bool { return int(p.chainer.kmers[i].pos)+k > to })
	all := float64(end - first)
	lost := all * (1 - math.Pow(1-min(2*rate, 1), k))
	return all-float64(len(c.anchors)) > lost+4*math.Sqrt(lost)+lostByChance
}

// lostByChance is how many k-mers may be missing in any case.
const lostByChance = 3

// matchOf returns a chain's match.
func (a *assembler) matchOf(c *chain, n int) match {
	first, last := c.anchors[0], c.anchors[len(c.anchors)-1]
	lo := side{read: int(first.read), place: int(first.place), end: 0}
	hi := side{read: int(last.read) + k, place: int(last.place) + k, end: 1}
	near := min(max(nearSpaces*(hi.read-lo.read)/len(c.anchors), minNear), maxNear)
	for _, s := range []*side{&lo, &hi} {
		s.segment = sort.Search(len(a.segments), func(i int) bool { return a.segments[i].to > s.place-s.end })
		g := &a.segments[s.segment]
		left := s.place - g.lo // bases of the segment beyond the side
		if s.end == 1 {
			left = g.hi - s.place
		}
		s.near = left <= near
		s.linked = g.link[s.end].set
		rest := s.read // bases of the read beyond
		if s.end == 1 {
			rest = n - s.read
		}
		s.open = !s.near && rest > near
	}
	if c.reversed {
		lo.read, hi.read = n-lo.read, n-hi.read
		return match{hi, lo}
	}
	return match{lo, hi}
}

// compare removes matches that are probably with another copy of a repeat.
func (p *planner) compare() {
	for i := 0; i+1 < len(p.matches); i++ {
		l, r := &p.matches[i].right, &p.matches[i+1].left
		if l.segment == r.segment && l.end != r.end && max(l.place-r.place, r.place-l.place) < 2*maxRepeat {
			l.open, r.open = false, false // an insertion or a deletion
		}
	}
	p.matches = slices.DeleteFunc(p.matches, func(m match) bool {
		return (m.left.open || m.right.open) && m.right.read-m.left.read < maxRepeat
	})
}

// fill adds what a read has between two matches, or before the first or after the last one, where there is no side.
func (p *planner) fill(from, to int, before, after *side) {
	if before != nil && (!before.near || before.linked) {
		before = nil
	}
	if after != nil && (!after.near || after.linked) {
		after = nil
	}
	if before != nil && after != nil {
		if before.segment == after.segment && before.end == after.end {
			return
		}
		if from <= to {
			p.steps = append(p.steps, step{from, to, before, after})
		}
		return
	}
	least := minSegment
	if before != nil || after != nil {
		least = minExtension
	}
	if to-from >= least {
		p.steps = append(p.steps, step{from, to, before, after})
	}
}

// add adds reads, and calls progress with how many more bases were added.
func (a *assembler) add(batch []Read, progress func(bases int)) {
	order := make([]int, len(batch)) // the longest first: they leave fewer ends
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(batch[y].N, batch[x].N) })
	adds := make([]bool, len(batch))
	for from := 0; from < len(order); {
		// What is added grows with what is there, so the reads that are looked at side by side do as well.
		to, sum := from, 0
		for to < len(order) && sum < max(a.seq.n/2, 1<<18) {
			sum += batch[order[to]].N
			to++
		}
		some := order[from:to]
		const each = 4
		tasks.EachWorker((len(some)+each-1)/each, a.config.Threads, func(int) func(int) {
			p := &planner{}
			return func(c int) {
				for _, i := range some[c*each : min((c+1)*each, len(some))] {
					adds[i] = len(p.plan(a, batch[i])) > 0
				}
			}
		})
		for _, i := range some {
			if adds[i] {
				for _, s := range a.serial.plan(a, batch[i]) {
					a.apply(batch[i], s)
				}
			}
		}
		progress(sum)
		from = to
	}
}

// apply carries out a step. Several steps of a read may want the same end; the first one gets it.
func (a *assembler) apply(r Read, s step) {
	usable := func(e *side) bool { return e != nil && !a.segments[e.segment].link[e.end].set }
	before, after := usable(s.before), usable(s.after)
	n := s.to - s.from
	if n > 0 {
		at := a.seq.n
		if at+n > a.config.MaxBases || !before && !after && n < minSegment {
			return
		}
		a.seq.append(r.Bases, s.from, s.to)
		number := len(a.segments)
		a.segments = append(a.segments, segment{to: at + n, lo: at, hi: at + n})
		if before {
			a.connect(link{s.before.segment, s.before.end, true}, link{number, 0, true}, s.before)
		}
		if after {
			a.connect(link{s.after.segment, s.after.end, true}, link{number, 1, true}, s.after)
		}
	} else if before && after {
		a.connect(link{s.before.segment, s.before.end, true}, link{s.after.segment, s.after.end, true}, s.before)
		a.cut(s.after)
	}
}

// connect links two ends, and leaves out what of the first one's segment is beyond the side.
func (a *assembler) connect(x, y link, s *side) {
	a.segments[x.segment].link[x.end] = y
	a.segments[y.segment].link[y.end] = x
	a.cut(s)
}

// cut leaves out what of the side's segment is beyond it.
func (a *assembler) cut(s *side) {
	g := &a.segments[s.segment]
	if s.end == 1 {
		g.hi = max(min(g.hi, s.place), g.lo)
	} else {
		g.lo = min(max(g.lo, s.place), g.hi)
	}
}

// linear returns the segments, those that are linked one after another.
func (a *assembler) linear() (bases.Words, int) {
	out := make(bases.Words, bases.WordsLen(a.seq.n))
	n := 0
	done := make([]bool, len(a.segments))
	for i := range a.segments {
		if done[i] {
			continue
		}
		// Go to the left as far as links lead.
		at := link{segment: i, end: 0}
		for {
			l := a.segments[at.segment].link[at.end]
			if !l.set || l.segment == i {
				break
			}
			at = link{segment: l.segment, end: 1 - l.end}
		}
		// Then to the right.
		for !done[at.segment] {
			done[at.segment] = true
			g := &a.segments[at.segment]
			if at.end == 0 {
				out.Replace(n, a.seq.bases, g.lo, g.hi-g.lo)
			} else {
				out.ReverseComplement(n, a.seq.bases, g.lo, g.hi-g.lo)
			}
			n += g.hi - g.lo
			l := g.link[1-at.end]
			if !l.set {
				break
			}
			at = link{segment: l.segment, end: l.end}
		}
	}
	return out[:bases.WordsLen(n)], n
}
