package longreads

import (
	"context"
	"slices"
	"sync/atomic"

	"orcomgo/bases"
	"orcomgo/compress/edits"
	"orcomgo/internal/tasks"
)

// Where reads have several versions of a sequence (the chromosomes of a diploid genome, strains, copies of a repeat), the sequence that
// was assembled has one of them, and all reads of another one have the same edits. Such reads are assembled once more, among
// themselves; what they give is added to the sequence.

const (
	// minShared is how many shared differences a stretch of a read has that is assembled once more, and maxBetween the most bases
	// between two of them.
	minShared  = 5
	maxBetween = 20000
	// besideShared is how many bases beside shared differences are assembled with them.
	besideShared = 1000
	// literalStep is how many bases that are not aligned count like a shared difference.
	literalStep = 20
	// chance is the probability that a difference which is an error is taken for a shared one.
	chance = 0.005
	// maxVersions is how often reads are assembled once more.
	maxVersions = 12
)

// sharedCounts returns, by depth, how many reads must have a base for it to be no error.
func (v *votes) sharedCounts() func(depth int32) int {
	rate := float64(v.substitutions.Load()) / float64(max(v.aligned.Load(), 1))
	least := make([]int, 512)
	for d := range least {
		// The other reads with the same wrong base are distributed as Poisson says.
		mean, p, c := float64(d)*rate/3, 1.0, 1
		for p *= mean; p > chance && c < 1<<16; p *= mean / float64(c) {
			c++
		}
		least[d] = max(c+1, 2)
	}
	return func(depth int32) int {
		if depth < int32(len(least)) {
			return least[depth]
		}
		return int(int64(depth) * int64(least[len(least)-1]) / int64(len(least)-1))
	}
}

// shared returns how many substitutions are shared ones. The depths must have been summed up.
func (v *votes) shared() int {
	least := v.sharedCounts()
	bases := v.to - v.from
	var n atomic.Int64
	tasks.Each((bases+votedChunk-1)/votedChunk, v.threads, func(_, c int) {
		sum := 0
		for i := c * votedChunk; i < min((c+1)*votedChunk, bases); i++ {
			if v.other.of(v.from+i) == [4]uint8{} {
				continue
			}
			own := v.seq.bases.At(v.from + i)
			for b := range byte(4) {
				if c := v.others(v.from+i, b); b != own && c >= least(v.depth[i]) {
					sum += c
				}
			}
		}
		n.Add(int64(sum))
	})
	return int(n.Load())
}

// worth reports whether enough differences are shared for assembling reads once more.
// Only votes on the whole sequence say so.
func (v *votes) worth() bool {
	return v.from == 0 && v.to == v.seq.n && v.shared()*100 > int(v.substitutions.Load())+v.seq.n/editBits
}

// editRate returns how many edits a base has that are not shared. Insertions and deletions are taken for as often shared as
// substitutions.
func (v *votes) editRate() float64 {
	all := float64(v.substitutions.Load())
	own := 1 - float64(v.shared())/max(all, 1)
	return (all + float64(v.indels.Load())) * own / float64(max(v.aligned.Load(), 1))
}

// stretch is a part of a read, with the bases that differ from a sequence as those of other reads do, or that are not aligned.
type stretch struct {
	Read
	marks []int // ascending
}

// poor returns the stretches of reads that have many shared differences, in the order of the reads. The depths must have been summed up.
// progress is called with how many more bases were looked at.
func (v *votes) poor(batch []Read, progress func(bases int)) []stretch {
	least := v.sharedCounts()
	const each = 16
	found := make([][]stretch, (len(batch)+each-1)/each)
	tasks.EachWorker(len(found), v.threads, func(int) func(int) {
		a := NewAligner(v.seq)
		a.chainer.divided = v.divided
		var marks []int // bases of the read with a shared difference
		return func(c int) {
			some := batch[c*each : min((c+1)*each, len(batch))]
			for _, r := range some {
				marks = v.marks(marks[:0], a.align(r.Bases, r.N), r.N, least)
				for from := 0; from < len(marks); {
					to := from + 1
					for to < len(marks) && marks[to]-marks[to-1] <= maxBetween {
						to++
					}
					if to-from >= minShared {
						lo, hi := max(marks[from]-besideShared, 0), min(marks[to-1]+besideShared, r.N)
						s := stretch{Read: Read{Bases: make(bases.Words, bases.WordsLen(hi-lo)), N: hi - lo}}
						s.Bases.Replace(0, r.Bases, lo, hi-lo)
						for _, x := range marks[from:to] {
							s.marks = append(s.marks, x-lo)
						}
						found[c] = append(found[c], s)
					}
					from = to
				}
			}
			progress(total(some))
		}
	})
	return slices.Concat(found...)
}

// marks appends the bases of a read of n bases that differ from the sequence as other reads do, or are not aligned, ascending.
func (v *votes) marks(dst []int, found []alignment, n int, least func(int32) int) []int {
	at := 0
	literal := func(to int) {
		for x := at + literalStep; x <= to; x += literalStep {
			dst = append(dst, x-literalStep/2)
		}
	}
	for i := range found {
		x := &found[i]
		from, to := oriented(x.from, x.to, n, x.reversed)
		literal(from)
		dst = x.substitutions(dst, n, func(e edits.Edit) bool { return v.others(int(e.At), e.Base) >= least(v.depth[e.At]) })
		at = to
	}
	literal(n)
	return dst
}

// readsOf returns the bases of stretches.
func readsOf(stretches []stretch) []Read {
	reads := make([]Read, len(stretches))
	for i := range stretches {
		reads[i] = stretches[i].Read
	}
	return reads
}

// withVersions returns s and the other versions of its parts that reads have, whose poor stretches are given.
func withVersions(ctx context.Context, s *Sequence, stretches []stretch, rate float64, c Config) (*Sequence, error) {
	poor := readsOf(stretches)
	for range maxVersions {
		if len(poor) == 0 || ctx.Err() != nil {
			break
		}
		a := newAssembler(c)
		a.config.MaxBases = c.MaxBases - s.n
		a.strict, a.editRate = true, rate
		a.add(poor, func(int) {})
		more, m := a.linear()
		if m == 0 {
			break
		}
		joined := func(more bases.Words, m int) *Sequence {
			b := make(bases.Words, bases.WordsLen(s.n+m))
			b.Replace(0, s.bases, 0, s.n)
			b.Replace(s.n, more, 0, m)
			return NewSequence(b, s.n+m, c.Threads)
		}
		both := joined(more, m)
		v := newVotes(both, s.n, both.n, c.Threads)
		v.add(poor, func(int) {})
		v.sum()
		var out writer
		v.consensus(&out, true)
		if out.n == 0 {
			break
		}
		s = joined(out.bases, out.n)
		v = newVotes(s, 0, s.n, c.Threads)
		v.add(poor, func(int) {})
		v.sum()
		left := readsOf(v.poor(poor, func(int) {}))
		if total(left) > total(poor)*9/10 {
			break
		}
		poor = left
	}
	return s, ctx.Err()
}
