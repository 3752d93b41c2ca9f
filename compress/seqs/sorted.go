package seqs

import (
	"context"
	"math/bits"
	"slices"

	rc "orcomgo/compress/rangecoder"
	"orcomgo/internal/largepages"
	"orcomgo/internal/tasks"
)

// sortedRun is the number of placed records between two groups of records without a place in the order of Sorted. The latter are
// spread because they take longest to decode: each slice has its share of them.
const sortedRun = 1 << 15

// Sorted returns the order in which records from..to-1 of an input are stored: the i-th is record
// from + result[i]. The placed reads are sorted by position and strand, and cut into equal shares. After each share follows an equal share
// of the other reads. With Config.Runs, unless memory is short, reads of different lengths go by where they begin instead of their
// positions; those of one place as tieSorter says, and the others by their leads. In the end all go by ordinal.
func (e *Encoder) Sorted(ctx context.Context, input int, from, to uint64) ([]uint32, error) {
	k, err := e.partOf(input, from, to)
	if err != nil {
		return nil, err
	}
	base, _ := e.parts[k].record(input, from)
	s := placeSorter{reads: uint32(to - from), threads: e.cfg.Threads,
		begin: func(read uint32) (uint32, bool) { return e.genome.Place(base + read) }}
	if e.window > 0 {
		e.mu.Lock() // only places are needed, no reads
		err := e.build(ctx)
		e.mu.Unlock()
		if err != nil {
			return nil, err
		}
	} else {
		p, err := e.acquire(ctx, loaded{part: k}, nil)
		if err != nil {
			return nil, err
		}
		defer e.release()
		l := p.layout
		s.begin = func(read uint32) (uint32, bool) { return l.Place(base + read) }
		if e.cfg.Runs {
			s.ties = func() *tieSorter { return e.newTieSorter(p, input, from) }
			if l.LengthsDiffer(base, s.reads) {
				s.begin = func(read uint32) (uint32, bool) {
					pos, reversed := l.Place(base + read)
					if pos != unplaced {
						pos = startOf(pos, reversed, l.LengthOf(base+read))
					}
					return pos, reversed
				}
			}
		}
	}
	s.positions = e.genome.Len + 1
	return s.order(), ctx.Err()
}

// placeSorter sorts reads 0..reads-1 into the order of Sorted. First it distributes them to ranges of positions, then it sorts each range;
// both with all threads. It takes 12 bytes of memory for each read.
type placeSorter struct {
	reads     uint32
	positions int // where reads may begin
	threads   int
	begin     func(read uint32) (start uint32, reversed bool) // see startOf
	ties      func() *tieSorter                               // makes one for a goroutine; nil: reads of one place are sorted by ordinal

	shift  uint     // keys of a range are equal in the bits from here on
	ranges int      // how many there are
	placed []uint64 // the placed reads: low bits of the key << 32 | read
	starts []int    // of each range in placed
	others []uint32 // the reads without a place
}

const (
	// maxRangeBits is the logarithm of the largest number of ranges: more of them would not fit in a processor's cache.
	maxRangeBits = 14
	// minSortedChunk is how many reads a goroutine distributes at least.
	minSortedChunk = 1 << 15
)

// key returns what a placed read is sorted by, start << 1 | strand, or false if it has no place.
func (s *placeSorter) key(read uint32) (uint64, bool) {
	start, reversed := s.begin(read)
	return uint64(start)<<1 | uint64(rc.BitOf(reversed)), start != unplaced
}

// order returns the reads in order.
func (s *placeSorter) order() []uint32 {
	s.shift = uint(max(bits.Len64(uint64(max(s.positions, 1))<<1-1)-maxRangeBits, 0))
	s.ranges = int(uint64(max(s.positions, 1))<<1>>s.shift) + 1
	s.distribute()
	if s.ties != nil {
		s.ties().sortByLead(s.others)
	}
	perm := largepages.Make[uint32](int(s.reads))
	groups := spread{len(s.placed), len(s.others), max(1, len(s.placed)/sortedRun)}
	tasks.Each(groups.n, s.threads, func(_, g int) {
		copy(perm[groups.placedIn(g+1)+groups.othersIn(g):], s.others[groups.othersIn(g):groups.othersIn(g+1)])
	})
	tasks.EachWorker(s.ranges, s.threads, func(int) func(int) {
		var ties *tieSorter
		if s.ties != nil {
			ties = s.ties()
		}
		return func(r int) {
			from, reads := s.starts[r], s.placed[s.starts[r]:s.starts[r+1]]
			slices.Sort(reads)
			if ties != nil {
				ties.sort(reads)
			}
			for i, x := range reads {
				perm[from+i+groups.othersIn(groups.groupOf(from+i))] = uint32(x)
			}
		}
	})
	return perm
}

// distribute sets placed, starts and others. In each range of placed, reads ascend.
func (s *placeSorter) distribute() {
	chunks := min(max(s.threads, 1), int(s.reads/minSortedChunk)+1)
	limit := func(c int) uint32 { return uint32(uint64(s.reads) * uint64(c) / uint64(chunks)) }
	next := make([][]int, chunks) // by chunk and range: how many reads there are, then where the next one goes; last those without a place
	tasks.Each(chunks, s.threads, func(_, c int) {
		count := make([]int, s.ranges+1)
		for read := limit(c); read < limit(c+1); read++ {
			if key, ok := s.key(read); ok {
				count[key>>s.shift]++
			} else {
				count[s.ranges]++
			}
		}
		next[c] = count
	})
	s.starts = make([]int, s.ranges+1)
	at := 0
	for r := range s.ranges + 1 {
		s.starts[r] = at
		if r == s.ranges {
			at = 0 // in others
		}
		for c := range next {
			n := next[c][r]
			next[c][r] = at
			at += n
		}
	}
	s.placed, s.others = largepages.Make[uint64](s.starts[s.ranges]), make([]uint32, at)
	tasks.Each(chunks, s.threads, func(_, c int) {
		to := next[c]
		for read := limit(c); read < limit(c+1); read++ {
			if key, ok := s.key(read); ok {
				n := &to[key>>s.shift]
				s.placed[*n] = key&(1<<s.shift-1)<<32 | uint64(read)
				*n++
			} else {
				n := &to[s.ranges]
				s.others[*n] = read
				*n++
			}
		}
	})
}

// spread divides placed reads and others into n groups each, which alternate.
type spread struct{ placed, others, n int }

// placedIn and othersIn return how many are in the first g groups.
func (s spread) placedIn(g int) int { return s.placed * g / s.n }
func (s spread) othersIn(g int) int { return s.others * g / s.n }

// groupOf returns the group of a placed read.
func (s spread) groupOf(i int) int {
	g := i * s.n / s.placed
	if i >= s.placedIn(g+1) {
		g++ // the quotients are rounded down
	}
	return g
}
