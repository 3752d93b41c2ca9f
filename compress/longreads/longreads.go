// Package longreads finds what long reads and contigs have in common: it builds one shared sequence of all of them, and aligns each to it
// in pieces. docs/LAYOUT.md, "Long reads", describes the method.
//
// The result depends on the reads and their order alone, not on the number of threads.
package longreads

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"orcomgo/bases"
)

// Read is a read or a contig.
type Read = bases.Read

// Reads calls f with all reads, in batches, always in the same order. The reads of a batch are valid during the call. It returns the first
// error of f, or one of its own.
type Reads func(f func(batch []Read) error) error

// Config has the options of Build.
type Config struct {
	Threads  int
	Memory   uint64 // bytes, roughly; 0 for no bound
	MaxBases int    // of the shared sequence; 0 for no bound
	// Progress, unless it is nil, is called with the number of bases of reads that the named stage has processed, by any goroutine.
	Progress func(stage string, done uint64)
}

// maxBases is the largest number of bases of a shared sequence.
const maxBases = math.MaxInt32

// Sequence is a sequence to which reads are aligned.
type Sequence struct {
	bases bases.Words
	n     int
	index *index
	// If versions is set, it has several versions of its parts, of which a read may follow now one and now another.
	versions bool
}

// NewSequence indexes a sequence of n bases on so many threads.
func NewSequence(b bases.Words, n, threads int) *Sequence {
	return &Sequence{bases: b, n: n, index: newIndex(b, n, threads)}
}

// Len returns the number of bases.
func (s *Sequence) Len() int { return s.n }

// Bases returns the bases.
func (s *Sequence) Bases() bases.Words { return s.bases }

// Build returns the shared sequence of reads: what at least two of them have. Errors are those of reads, or ctx.Err().
func Build(ctx context.Context, reads Reads, c Config) (*Sequence, error) {
	c.Threads = max(c.Threads, 1)
	if c.MaxBases <= 0 || c.MaxBases > maxBases {
		c.MaxBases = maxBases
	}
	if c.Memory > 0 {
		c.MaxBases = int(min(uint64(c.MaxBases), c.Memory/4/sequenceBytes))
	}
	report := func(stage string) func(n int) {
		var all atomic.Uint64
		return func(n int) {
			if done := all.Add(uint64(n)); c.Progress != nil {
				c.Progress(stage, done)
			}
		}
	}
	a := newAssembler(c)
	progress := report("joining long reads")
	all := uint64(0)
	err := reads(func(batch []Read) error {
		a.add(batch, progress)
		all += uint64(total(batch))
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	bases, n := a.linear()
	a = nil
	s := NewSequence(bases, n, c.Threads)
	versions, divided := false, false // s has versions; reads may follow several of them when they vote
	// vote votes on s, as many bases at a time as memory allows, and returns the votes on the last ones.
	// Of the reads, sampled ones are enough for the depth, if it is not 0. saved is about how many bits s saved for the reads that voted, and
	// voted is how many bases they have. In progress they are `part` of all.
	vote := func(depth int, prune func(v *votes) bool, part float64) (v *votes, out *writer, saved, voted int, err error) {
		out = &writer{}
		saved = -baseBits * s.n
		windows := 1
		if c.Memory > 0 {
			windows += int(uint64(s.n) * voteBytes / max(c.Memory/2, 1<<20))
		}
		for w := range windows {
			v = newVotes(s, s.n*w/windows, s.n*(w+1)/windows, c.Threads)
			v.divided = divided
			first := 0
			err := reads(func(batch []Read) error {
				some := sample(batch, first, depth)
				part := part * float64(total(batch)) / float64(total(some)) / float64(windows)
				v.add(some, func(n int) { progress(int(float64(n) * part)) })
				first += len(batch)
				if w == 0 {
					voted += total(some)
				}
				return ctx.Err()
			})
			if err != nil {
				return nil, nil, 0, 0, err
			}
			v.sum()
			v.consensus(out, prune(v))
			// About how many bits alignments save, but for what pieces cost.
			saved += baseBits*int(v.aligned.Load()) - editBits*int(v.substitutions.Load()+v.indels.Load())
		}
		return v, out, saved, voted, nil
	}
	never, always := func(*votes) bool { return false }, func(*votes) bool { return true }
	progress = report("voting on long reads")
	depth := int(all / uint64(max(s.n, 1)))
	sampled := enoughDepth / float64(max(depth, enoughDepth))
	_, out, saved, voted, err := vote(depth, never, sampled/(1+sampled))
	if err != nil {
		return nil, err
	}
	if saved*leastSaved < voted {
		return (&writer{}).sequence(c.Threads), nil
	}
	s = out.sequence(c.Threads)
	v, out, _, _, err := vote(0, func(v *votes) bool { return !v.worth() }, 1/(1+sampled))
	if err != nil {
		return nil, err
	}
	if v != nil && v.worth() {
		var poor []stretch
		progress = report("finding versions")
		bound := math.MaxInt // bases of reads that are assembled once more
		if c.Memory > 0 {
			bound = int(c.Memory / 8 * 4)
		}
		err := reads(func(batch []Read) error {
			for _, r := range v.poor(batch, func(n int) { progress(n / 2) }) {
				if bound -= r.N; bound >= 0 {
					poor = append(poor, r)
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		rate := v.editRate()
		v = nil
		s = out.sequence(c.Threads)
		if rate < accurate {
			s, err = withCopies(ctx, s, poor, c)
		} else {
			s, err = withVersions(ctx, s, poor, rate, c)
		}
		if err != nil {
			return nil, err
		}
		versions, divided = true, rate < accurate
		if _, out, _, _, err = vote(0, always, 0.5); err != nil {
			return nil, err
		}
	}
	s = out.sequence(c.Threads)
	s.versions = versions
	return s, nil
}

// accurate is how many edits a base reads have at most which are nearly without errors, as assemblies are. Versions of errors would share
// other reads with the right ones.
const accurate = 1. / 2000

// leastSaved is how many bases of reads there may be for each bit that a shared sequence saves. If it saves less, reads have repeats in
// common at most, which the model of literals follows by itself.
const leastSaved = 32

// sequence returns what was written.
func (w *writer) sequence(threads int) *Sequence {
	if w.bases == nil {
		w.bases = make(bases.Words, bases.WordsLen(0))
	}
	return NewSequence(slices.Clip(w.bases[:bases.WordsLen(w.n)]), w.n, threads)
}

// sequenceBytes is about the memory of a base of a sequence with its index, in bytes.
const sequenceBytes = 2

func total(batch []Read) int {
	n := 0
	for i := range batch {
		n += batch[i].N
	}
	return n
}
