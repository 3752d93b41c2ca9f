// Package longreads finds what long reads and contigs have in common: it builds one shared sequence of all of them, and aligns each to it
// in pieces. docs/LAYOUT.md, "Long reads", describes the method.
//
// The result depends on the reads and their order alone, not on the number of threads.
package longreads

import (
	"context"
	"math"
)

// Read is a read of N bases. The value of a letter other than A, C, G and T is arbitrary.
type Read struct {
	Bases Bases
	N     int
}

// Reads calls f with all reads, in batches, always in the same order. The reads of a batch are valid during the call. It returns the first
// error of f, or one of its own.
type Reads func(f func(batch []Read) error) error

// Config has the options of Build.
type Config struct {
	Threads  int
	Memory   uint64 // bytes, roughly; 0 for no bound
	MaxBases int    // of the shared sequence; 0 for no bound
	// Progress, unless it is nil, is called with the number of bases of reads that the named stage has processed.
	Progress func(stage string, done uint64)
}

// maxBases is the largest number of bases of a shared sequence.
const maxBases = math.MaxInt32

// Sequence is a sequence to which reads are aligned.
type Sequence struct {
	bases Bases
	n     int
	index *index
}

// NewSequence indexes a sequence of n bases on so many threads.
func NewSequence(b Bases, n, threads int) *Sequence {
	return &Sequence{b, n, newIndex(b, n, threads)}
}

// Len returns the number of bases.
func (s *Sequence) Len() int { return s.n }

// Bases returns the bases.
func (s *Sequence) Bases() Bases { return s.bases }

// Build returns the shared sequence of reads: what at least two of them have. Errors are those of reads, or ctx.Err().
func Build(ctx context.Context, reads Reads, c Config) (*Sequence, error) {
	c.Threads = max(c.Threads, 1)
	if c.MaxBases <= 0 || c.MaxBases > maxBases {
		c.MaxBases = maxBases
	}
	report := func(stage string) func(n int) {
		done := uint64(0)
		return func(n int) {
			if c.Progress != nil {
				done += uint64(n)
				c.Progress(stage, done)
			}
		}
	}
	a := newAssembler(c)
	progress := report("joining long reads")
	err := reads(func(batch []Read) error {
		a.add(batch)
		progress(total(batch))
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	bases, n := a.linear()
	a = nil
	s := NewSequence(bases, n, c.Threads)
	vote := func(prune bool) (*votes, error) {
		v := newVotes(s, c.Threads, prune)
		progress := report("voting on long reads")
		err := reads(func(batch []Read) error {
			v.add(batch)
			progress(total(batch))
			return ctx.Err()
		})
		v.sum()
		return v, err
	}
	v, err := vote(false)
	if err != nil {
		return nil, err
	}
	bases, n = v.consensus(0)
	s = NewSequence(bases, n, c.Threads)
	if v, err = vote(false); err != nil {
		return nil, err
	}
	if v.worth() {
		var poor []Read
		progress := report("finding versions")
		err := reads(func(batch []Read) error {
			poor = append(poor, v.poor(batch)...)
			progress(total(batch))
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		bases, n = v.consensus(0)
		s = NewSequence(bases, n, c.Threads)
		if s, err = withVersions(ctx, s, poor, v.editRate(), c); err != nil {
			return nil, err
		}
		if v, err = vote(true); err != nil {
			return nil, err
		}
	}
	v.prune = true
	bases, n = v.consensus(0)
	return NewSequence(bases, n, c.Threads), nil
}

func total(batch []Read) int {
	n := 0
	for i := range batch {
		n += batch[i].N
	}
	return n
}
