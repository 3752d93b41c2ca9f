package longreads

import (
	"context"
	"slices"

	"orcomgo/bases"
	"orcomgo/compress/edits"
	"orcomgo/internal/tasks"
)

// The versions of assemblies, which have nearly no errors, need no votes: what a genome has in common with others, but not with the
// sequence so far, is copied from it. The genomes are looked at one after another, so each version is copied from the first one that
// has it.

const (
	// minLacking is how many shared differences a copied stretch has at least, and maxBetweenLacking the most bases between two of
	// them. A copied base costs about 1/200 of a bit, a change to another copy as much as four edits.
	minLacking        = 20
	maxBetweenLacking = 20000
	// besideLacking is how many bases beside them are copied, so that k-mers lead there.
	besideLacking = 300
)

// copier finds what a sequence lacks.
type copier struct {
	aligner *Aligner
	found   []interval
}

// lacks returns the stretches of a read whose shared differences s does not explain. They are valid until the next call.
func (c *copier) lacks(s stretch) []interval {
	c.found = c.found[:0]
	marks := s.marks
	last, count := 0, 0 // of the interval that is being made: its last mark, and how many it has
	lack := func(at int) {
		if count == 0 || at-last > maxBetweenLacking {
			c.end(count)
			c.found, count = append(c.found, interval{max(at-besideLacking, 0), 0}), 0
		}
		last, count = at, count+1
		c.found[len(c.found)-1].to = min(at+besideLacking, s.N)
	}
	var substituted []int
	for _, x := range c.aligner.align(s.Bases, s.N) {
		from, to := oriented(x.from, x.to, s.N, x.reversed)
		for len(marks) > 0 && marks[0] < from {
			lack(marks[0])
			marks = marks[1:]
		}
		substituted = x.substitutions(substituted[:0], s.N, nil)
		for ; len(marks) > 0 && marks[0] < to; marks = marks[1:] {
			for len(substituted) > 0 && substituted[0] < marks[0] {
				substituted = substituted[1:]
			}
			if len(substituted) > 0 && substituted[0] == marks[0] {
				lack(marks[0])
			}
		}
	}
	for _, at := range marks {
		lack(at)
	}
	c.end(count)
	return c.found
}

// end removes the last interval if it has too few shared differences.
func (c *copier) end(count int) {
	if len(c.found) > 0 && count < minLacking {
		c.found = c.found[:len(c.found)-1]
	}
}

// withCopies returns s, which is changed, and the other versions of its parts that reads have, whose stretches with shared differences are
// given.
func withCopies(ctx context.Context, s *Sequence, poor []stretch, c Config) (*Sequence, error) {
	s.versions = true
	serial := &copier{aligner: NewAligner(s)}
	lack := make([]bool, len(poor))
	for from := 0; from < len(poor) && ctx.Err() == nil; {
		// What is copied grows with what is there, so the reads that are looked at side by side do as well.
		to, sum := from, 0
		for to < len(poor) && sum < max(s.n/2, 1<<18) {
			sum += poor[to].N
			to++
		}
		tasks.EachWorker(to-from, c.Threads, func(int) func(int) {
			p := &copier{aligner: NewAligner(s)}
			return func(i int) { lack[from+i] = len(p.lacks(poor[from+i])) > 0 }
		})
		for i := from; i < to; i++ {
			if !lack[i] {
				continue
			}
			for _, x := range serial.lacks(poor[i]) {
				if s.n+x.to-x.from <= c.MaxBases {
					s.append(poor[i].Bases, x.from, x.to)
				}
			}
		}
		from = to
	}
	return s, ctx.Err()
}

// append appends bases from..to-1 of b, and indexes them.
func (s *Sequence) append(b bases.Words, from, to int) {
	n := s.n + to - from
	s.bases = append(s.bases, make(bases.Words, max(0, bases.WordsLen(n)-len(s.bases)))...)
	s.bases.Replace(s.n, b, from, to-from)
	for _, m := range appendKmers(nil, s.bases, s.n, n) {
		s.index.insert(m)
	}
	s.n = n
}

// substitutions appends where the substitutions of an alignment are in its read, of n bases, in its order. If wanted is not nil, it says
// which ones.
func (x *alignment) substitutions(dst []int, n int, wanted func(e edits.Edit) bool) []int {
	begin := len(dst)
	read := x.from - x.first // base i of the sequence is base i+read of the oriented read, after the edits so far
	for _, e := range x.edits {
		switch e.Kind {
		case edits.Insertion:
			read++
		case edits.Deletion:
			read--
		default:
			if wanted == nil || wanted(e) {
				at, _ := oriented(int(e.At)+read, int(e.At)+read+1, n, x.reversed)
				dst = append(dst, at)
			}
		}
	}
	if x.reversed {
		slices.Reverse(dst[begin:])
	}
	return dst
}
