package overlap

import (
	"sync/atomic"

	"orcomgo/internal/tasks"
)

// A voteEvent is what a read contributes to one position of the pseudogenome: offset of the position in its partition << 3 |
// kind. Kinds 0..3 are bases that differ from the pseudogenome's, the others are below.
type voteEvent = uint32

const (
	eventStart = 4 // a read begins at the position
	eventEnd   = 5 // a read ended at the position before
	kindBits   = 3
	kinds      = 1 << kindBits
)

const (
	eventBytes = 4
	// counterBytes is the memory of the counters of a position.
	counterBytes = 4 * kinds
	// maxPartitions is the number of partitions of a window at most, and minPartitionBits the log2 of the smallest number of
	// positions of one. A partition is a multiple of four positions, so that no byte of the pseudogenome is in two.
	maxPartitions    = 1 << 10
	minPartitionBits = 6
	// maxEventChunk is the number of events of a chunk of an eventLists at most, minEventChunk at least.
	maxEventChunk, minEventChunk = 256, 8
)

// voteWindow counts the events of positions lo..hi-1. Goroutines collect the events of different reads and distribute them to
// partitions by position; then each partition is counted by one goroutine. So no counter is shared, and the counts do not
// depend on the number of goroutines.
//
// Each event takes eventBytes until it is counted. Where there are many for each position, all counters of the window are in
// memory instead, and events are counted whenever their number exceeds a limit.
type voteWindow struct {
	lo, hi   int
	bits     int // log2 of the number of positions of a partition
	lists    []eventLists
	counters []uint32 // by position and kind; nil if events are counted only once
	limit    int64    // number of events above which they are counted
	waiting  int64    // number of collected events that are not counted
	// staleMismatches says that reads can have mismatches although they had none when they were placed.
	staleMismatches bool
	only            *Subset // positions that are voted on; nil for all
}

// eventLists holds the events that one goroutine collected.
type eventLists struct {
	current     [][]voteEvent   // by partition, the chunk that is being filled
	full        [][][]voteEvent // by partition
	depthChange []int32         // by partition, how many more reads begin in it than end in it
	chunk       int             // number of events of a chunk
	unused      []voteEvent     // memory for chunks
	bits        int

	reverse []byte
	mask    []uint64
}

// newVoteWindow returns a window for about so many events, which may take so many bytes.
func newVoteWindow(lo, hi int, events, bytes uint64, threads int) *voteWindow {
	w := &voteWindow{lo: lo, hi: hi, bits: minPartitionBits, limit: 1<<63 - 1}
	for (hi-lo)>>w.bits >= maxPartitions {
		w.bits++
	}
	partitions := w.partitions()
	if counters := uint64(hi-lo) * counterBytes; counters < events*eventBytes {
		w.counters = make([]uint32, (hi-lo+1)*kinds)
		w.limit = int64(roundEvents(bytes))
		events = min(events, uint64(w.limit))
	}
	w.lists = make([]eventLists, threads)
	for t := range w.lists {
		w.lists[t] = eventLists{
			current:     make([][]voteEvent, partitions),
			full:        make([][][]voteEvent, partitions),
			depthChange: make([]int32, partitions),
			chunk:       int(max(minEventChunk, min(maxEventChunk, events/uint64(4*threads*partitions)))),
			bits:        w.bits,
		}
	}
	return w
}

// partitions returns the number of partitions. The last one has one position that is in no read.
func (w *voteWindow) partitions() int { return (w.hi-w.lo)>>w.bits + 1 }

// roundEvents returns how many events may wait to be counted if all counters of a window are in memory.
func roundEvents(bytes uint64) uint64 { return max(1<<12, min(1<<24, bytes/8/eventBytes)) }

// voteWindowBytes returns the memory of a voteWindow of so many positions and events, which may take so many bytes.
func voteWindowBytes(positions, events, bytes uint64) uint64 {
	return min(events*eventBytes, positions*counterBytes+roundEvents(bytes)*eventBytes)
}

// add adds an event at a position, which is counted from the beginning of the window.
func (l *eventLists) add(position int, kind uint32) {
	p := position >> l.bits
	c := l.current[p]
	if len(c) == cap(c) {
		if c != nil {
			l.full[p] = append(l.full[p], c)
		}
		if len(l.unused) < l.chunk {
			l.unused = make([]voteEvent, 64*l.chunk)
		}
		c, l.unused = l.unused[:0:l.chunk], l.unused[l.chunk:]
	}
	l.current[p] = append(c, uint32(position&(1<<l.bits-1))<<kindBits|kind)
}

// addRead adds the events of read i at pos of seq, which lie in the window, and returns their number.
func (l *eventLists) addRead(w *voteWindow, seq *sequence, rd *Reads, i, pos int, reversed, mismatches bool) (events int) {
	n := rd.len(i)
	if n == 0 {
		return 0
	}
	start := max(pos-w.lo, 0)
	l.add(start, eventStart)
	l.depthChange[start>>l.bits]++
	events = 1
	if end := pos + n; end < w.hi {
		l.add(end-w.lo, eventEnd)
		l.depthChange[(end-w.lo)>>l.bits]--
		events++
	}
	if !mismatches {
		return events
	}
	read, skip := rd.onPseudogenomeStrand(i, reversed, &l.reverse, &l.mask)
	forEachMismatch(seq.packed, pos, read, n, skip, func(j int, b byte) {
		if p := pos + j; p >= w.lo && p < w.hi {
			l.add(p-w.lo, uint32(b))
			events++
		}
	})
	return events
}

// addReads adds the events of reads from..to-1, at most voteBatch, and returns their number.
func (l *eventLists) addReads(w *voteWindow, seq *sequence, rd *Reads, pl *placements, from, to int) (events int) {
	// Places may be by record, far apart in memory. Reading those of a batch together lets the cache misses overlap.
	var places [voteBatch]struct {
		pos                  uint32
		reversed, mismatches bool
	}
	for i := from; i < to; i++ {
		p, k := &places[i-from], rd.number(i)
		p.pos, p.reversed, p.mismatches = pl.pos[k], pl.reversed(k), pl.mismatches[k] != 0 || w.staleMismatches
	}
	for i := from; i < to; i++ {
		p := &places[i-from]
		if p.pos == Unplaced || w.only != nil && w.only.rank(p.pos) == w.only.rank(p.pos+uint32(rd.len(i))) {
			continue
		}
		if int(p.pos) < w.hi && int(p.pos)+rd.len(i) > w.lo {
			events += l.addRead(w, seq, rd, i, int(p.pos), p.reversed, p.mismatches)
		}
	}
	return events
}

// collect collects the events of reads. pl holds their places on seq.
func (w *voteWindow) collect(rd *Reads, pl *placements, seq *sequence) {
	var next, waiting atomic.Int64
	waiting.Store(w.waiting)
	for int(next.Load()) < rd.Count() {
		if waiting.Load() > w.limit {
			tasks.Each(w.partitions(), len(w.lists), func(_, p int) { w.countPartition(p, w.counters[p<<(w.bits+kindBits):]) })
			w.waiting = 0
			waiting.Store(0)
		}
		tasks.Each(len(w.lists), len(w.lists), func(_, t int) {
			l := &w.lists[t]
			for waiting.Load() <= w.limit {
				to := int(next.Add(voteBatch))
				from := to - voteBatch
				if from >= rd.Count() {
					return
				}
				waiting.Add(int64(l.addReads(w, seq, rd, pl, from, min(to, rd.Count()))))
			}
		})
	}
	w.waiting = waiting.Load()
}

// voteBatch is the number of reads whose events a goroutine collects at a time.
const voteBatch = 1 << 9

// countPartition adds the waiting events of a partition to its counters, and removes them from the lists.
func (w *voteWindow) countPartition(p int, counters []uint32) {
	for t := range w.lists {
		l := &w.lists[t]
		for _, events := range append(l.full[p], l.current[p]) {
			for _, e := range events {
				counters[e]++
			}
		}
		l.full[p], l.current[p] = nil, nil
	}
}

// finish counts the remaining events and calls f, from several goroutines, with each position that has mismatches: its depth
// (the number of reads that cover it) and the number of reads with each base other than the pseudogenome's. Positions whose
// bases share a byte of the pseudogenome are passed to f by one goroutine, in ascending order.
func (w *voteWindow) finish(f func(position int, depth uint32, bases *[4]uint32)) {
	depths := make([]int32, w.partitions()) // reads that cover the position before each partition
	depth := int32(0)
	for p := range depths {
		depths[p] = depth
		for t := range w.lists {
			depth += w.lists[t].depthChange[p]
		}
	}
	tasks.EachWorker(w.partitions(), len(w.lists), func(int) func(p int) {
		var own []uint32 // memory for counters of a partition, where not all are in memory
		return func(p int) {
			first := p << w.bits
			positions := max(min(1<<w.bits, w.hi-w.lo-first), 0)
			var counters []uint32
			if w.counters != nil {
				counters = w.counters[first*kinds:]
			} else {
				if own == nil {
					own = make([]uint32, kinds<<w.bits)
				}
				clear(own)
				counters = own
			}
			w.countPartition(p, counters)
			scanCounters(w.lo+first, depths[p], counters[:positions*kinds], f)
		}
	})
}

// scanCounters calls f for the positions from `at` on, whose counters it is given. depth is that of the position before.
func scanCounters(at int, depth int32, counters []uint32, f func(position int, depth uint32, bases *[4]uint32)) {
	for ; len(counters) > 0; counters = counters[kinds:] {
		c := (*[kinds]uint32)(counters)
		depth += int32(c[eventStart]) - int32(c[eventEnd])
		if c[0]|c[1]|c[2]|c[3] != 0 {
			f(at, uint32(depth), (*[4]uint32)(counters))
		}
		at++
	}
}
