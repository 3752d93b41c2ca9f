package longreads

import (
	"sync"
	"sync/atomic"

	"orcomgo/bases"
	"orcomgo/compress/edits"
	"orcomgo/internal/tasks"
)

// votes counts what aligned reads have at bases from..to-1 of a sequence.
type votes struct {
	seq      *Sequence
	threads  int
	from, to int
	divided  bool    // see chainer
	depth    []int32 // by how much the number of alignments over a base differs from that over the base before it; after sum, the number
	// other is, by base, how many reads have another one there; in the place of the sequence's own, how many have none. inserted is, by
	// base, how many reads have one more base before the sequence's. Both are modulo 256; overflow has the rest.
	other, inserted counters
	ranges          [1 << 8]votedRange

	aligned, substitutions, indels atomic.Int64 // bases of reads that are aligned, and edits
}

// votedRange is what belongs to ranges of 1 << rangeBits bases.
type votedRange struct {
	sync.Mutex
	overflow map[uint64]uint32 // by the number of the counter: how often it was 256
}

const rangeBits = 14

// counters are four for each base from a first one on. They have memory where one of a range of 1 << rangeBits bases was raised: of a
// genome, which hardly anything is aligned to, nearly none.
type counters struct {
	first  int // number of the first range
	ranges []*[1 << rangeBits][4]uint8
}

func newCounters(from, to int) counters {
	return counters{from >> rangeBits, make([]*[1 << rangeBits][4]uint8, to>>rangeBits-from>>rangeBits+1)}
}

// of returns the counters of a base.
func (c *counters) of(place int) (n [4]uint8) {
	if r := c.ranges[place>>rangeBits-c.first]; r != nil {
		n = r[place&(1<<rangeBits-1)]
	}
	return n
}

// at returns the counter of a base to raise it. The range must be locked.
func (c *counters) at(place int, b byte) *uint8 {
	r := &c.ranges[place>>rangeBits-c.first]
	if *r == nil {
		*r = new([1 << rangeBits][4]uint8)
	}
	return &(*r)[place&(1<<rangeBits-1)][b]
}

// voteBytes is the memory of votes for each base, at most.
const voteBytes = 12

func newVotes(s *Sequence, from, to, threads int) *votes {
	n := to - from + 1
	return &votes{seq: s, threads: threads, from: from, to: to, depth: make([]int32, n), other: newCounters(from, to),
		inserted: newCounters(from, to)}
}

func (v *votes) rangeOf(place int) *votedRange { return &v.ranges[place>>rangeBits&(len(v.ranges)-1)] }

// others and insertions return how many reads have base b instead of base `place` of the sequence, and before it.
func (v *votes) others(place int, b byte) int {
	return v.counter(v.other.of(place)[b], place, int(b))
}

func (v *votes) insertions(place int, b byte) int {
	return v.counter(v.inserted.of(place)[b], place, 4+int(b))
}

func (v *votes) counter(low uint8, place, which int) int {
	r := v.rangeOf(place)
	if r.overflow == nil {
		return int(low)
	}
	return int(low) + 256*int(r.overflow[uint64(place)<<3|uint64(which)])
}

// raise counts one more; the range must be locked.
func (r *votedRange) raise(low *uint8, place, which int) {
	if *low++; *low == 0 {
		if r.overflow == nil {
			r.overflow = make(map[uint64]uint32)
		}
		r.overflow[uint64(place)<<3|uint64(which)]++
	}
}

// enoughDepth is how many reads over each base are enough for the first vote.
const enoughDepth = 16

// sample returns some of the reads of a batch, the first of which is number `first` of all, so that about enoughDepth of depth remain.
func sample(batch []Read, first, depth int) []Read {
	if depth <= enoughDepth {
		return batch
	}
	var some []Read
	for i, r := range batch {
		if n := first + i; (n+1)*enoughDepth/depth > n*enoughDepth/depth {
			some = append(some, r)
		}
	}
	return some
}

// add counts reads, and calls progress with how many more bases were counted.
func (v *votes) add(batch []Read, progress func(bases int)) {
	const each = 16
	tasks.EachWorker((len(batch)+each-1)/each, v.threads, func(int) func(int) {
		a := NewAligner(v.seq)
		a.chainer.divided = v.divided
		a.first, a.end = v.from, v.to
		return func(c int) {
			some := batch[c*each : min((c+1)*each, len(batch))]
			for _, r := range some {
				for _, x := range a.align(r.Bases, r.N) {
					v.count(&x)
				}
			}
			progress(total(some))
		}
	})
}

// count counts an alignment.
func (v *votes) count(a *alignment) {
	first, end := max(a.first, v.from), min(a.end, v.to)
	if first >= end {
		return
	}
	change := func(place int, d int32) {
		m := v.rangeOf(place)
		m.Lock()
		v.depth[place-v.from] += d
		m.Unlock()
	}
	change(first, 1)
	change(end, -1)
	v.aligned.Add(int64(end - first))
	var held *votedRange
	substitutions, indels := 0, 0
	for i, e := range a.edits {
		place := int(e.At)
		if place < v.from || place >= v.to {
			continue
		}
		if r := v.rangeOf(place); r != held {
			if held != nil {
				held.Unlock()
			}
			r.Lock()
			held = r
		}
		switch e.Kind {
		case edits.Substitution:
			held.raise(v.other.at(place, e.Base), place, int(e.Base))
			substitutions++
			continue
		case edits.Deletion:
			own := v.seq.bases.At(place)
			held.raise(v.other.at(place, own), place, int(own))
		default:
			// Only the first base of a run has a vote: there is another round.
			if i == 0 || a.edits[i-1].Kind != edits.Insertion || a.edits[i-1].At != e.At {
				held.raise(v.inserted.at(place, e.Base), place, 4+int(e.Base))
			}
		}
		indels++
	}
	if held != nil {
		held.Unlock()
	}
	v.substitutions.Add(int64(substitutions))
	v.indels.Add(int64(indels))
}

// sum makes depth the number of alignments over each base.
func (v *votes) sum() {
	d := int32(0)
	for i, change := range v.depth {
		d += change
		v.depth[i] = d
	}
}

const (
	// minDepth is how many alignments there are over a base that is worth keeping, and keptBeside how many bases beside such bases are
	// kept as well if there is one alignment.
	minDepth   = 2
	keptBeside = 1000
)

// writer appends bases.
type writer struct {
	bases bases.Words
	n     int
}

func (w *writer) put(b byte) {
	if bases.WordsLen(w.n+1) > len(w.bases) {
		w.bases = append(w.bases, make(bases.Words, len(w.bases)/8+64)...)
	}
	w.bases.Set(w.n, b)
	w.n++
}

// append appends what another writer has.
func (w *writer) append(o *writer) {
	if need := bases.WordsLen(w.n + o.n); need > len(w.bases) {
		w.bases = append(w.bases, make(bases.Words, max(need-len(w.bases), len(w.bases)/8))...)
	}
	w.bases.Replace(w.n, o.bases, 0, o.n)
	w.n += o.n
}

// consensus writes the bases that most reads have. If prune is set it leaves out what too few reads have. The depths must have been
// summed up.
func (v *votes) consensus(out *writer, prune bool) {
	n := v.to - v.from
	kept := make([]bool, n)
	until := 0
	for i := range n {
		if v.depth[i] >= minDepth {
			until = i + keptBeside
		}
		kept[i] = !prune || v.depth[i] > 0 && i < until
	}
	from := n
	for i := n - 1; i >= 0; i-- {
		if v.depth[i] >= minDepth {
			from = i - keptBeside
		}
		kept[i] = kept[i] || v.depth[i] > 0 && i > from
	}
	parts := make([]writer, (n+votedChunk-1)/votedChunk)
	tasks.Each(len(parts), v.threads, func(_, c int) {
		for i := c * votedChunk; i < min((c+1)*votedChunk, n); i++ {
			if kept[i] {
				v.elect(&parts[c], i)
			}
		}
	})
	for i := range parts {
		out.append(&parts[i])
	}
}

// votedChunk is how many bases a goroutine counts at a time.
const votedChunk = 1 << 16

// elect writes what most reads have at base v.from+i: nothing, a base, or two.
func (v *votes) elect(out *writer, i int) {
	place, d := v.from+i, int(v.depth[i])
	if v.inserted.of(place) != [4]uint8{} {
		best, most, sum := byte(0), 0, 0
		for b := range byte(4) {
			c := v.insertions(place, b)
			if sum += c; c > most {
				best, most = b, c
			}
		}
		if 2*sum > d {
			out.put(best)
		}
	}
	own := v.seq.bases.At(place)
	best, most := own, d/2
	if v.other.of(place) != [4]uint8{} {
		for b := range byte(4) {
			if c := v.others(place, b); c > most {
				best, most = b, c
			}
		}
	}
	if most == d/2 || best != own {
		out.put(best)
	}
}
