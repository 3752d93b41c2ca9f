package overlap

import (
	"cmp"
	"slices"

	"orcomgo/bases"
	"orcomgo/internal/largepages"
	"orcomgo/internal/tasks"
)

// contigSet holds contigs, each with a number of reads. A contig is known by its index.
type contigSet struct {
	packed []byte   // bases as in packed.go; each contig begins with a byte; followed by bases.Pad
	start  []uint64 // byte of packed with which each contig begins
	length []uint32 // bases
	reads  []uint64
	left   []uint32 // comparisons with others that the contig may still make
	bases  uint64   // sum of length
	// changed says that contigs were added or left out, or came in another order, since the last round of joining.
	changed bool
}

// contigSetBytes is the memory of a contig in a set in addition to its bases.
const contigSetBytes = 8 + 4 + 8 + 4

func (s *contigSet) count() int { return len(s.length) }

// of returns the packed bases of contig c and what follows them, at least bases.Pad.
func (s *contigSet) of(c uint32) []byte { return s.packed[s.start[c]:] }

// joinRange is how many contigs a goroutine processes at a time.
const joinRange = 256

// grow adds n contigs: contig i of them has the length and reads that size returns, and write writes its packed bases to dst.
func (s *contigSet) grow(n, threads int, size func(i int) (bases int, reads uint64), write func(i int, dst []byte)) {
	if n == 0 {
		return
	}
	old := s.count()
	s.changed = true
	s.start = extended(threads, s.start, n)
	s.length = extended(threads, s.length, n)
	s.reads = extended(threads, s.reads, n)
	s.left = extended(threads, s.left, n)
	first := uint64(max(len(s.packed), bases.Pad)) - bases.Pad
	total := placeInParallel(threads, n, func(i int) uint64 {
		bases, reads := size(i)
		s.length[old+i], s.reads[old+i] = uint32(bases), reads
		s.left[old+i] = uint32(bases)/2 + 16
		return uint64(bases+3) / 4
	}, func(i int, at uint64) { s.start[old+i] = first + at })
	s.bases += s.basesFrom(old)
	s.packed = extended(threads, s.packed, int(first+total)+bases.Pad-len(s.packed))
	inParallel(threads, n, joinRange, func(_, from, to int) {
		for i := old + from; i < old+to; i++ {
			b := s.of(uint32(i))[:(s.length[i]+3)/4]
			clear(b) // the padding of before
			write(i-old, b)
		}
	})
}

// append adds the contigs of other, which were not joined.
func (s *contigSet) append(other *contigSet, threads int) {
	s.grow(other.count(), threads, func(i int) (int, uint64) { return int(other.length[i]), other.reads[i] },
		func(i int, dst []byte) { copy(dst, other.of(uint32(i))) })
}

// basesFrom returns how many bases contig c and those after it have.
func (s *contigSet) basesFrom(c int) (sum uint64) {
	for _, n := range s.length[c:] {
		sum += uint64(n)
	}
	return sum
}

// truncate leaves the first n contigs.
func (s *contigSet) truncate(n int) {
	if n >= s.count() {
		return
	}
	s.changed = true
	s.bases -= s.basesFrom(n)
	s.packed = s.packed[:s.start[n]+bases.Pad]
	s.start, s.length, s.reads, s.left = s.start[:n], s.length[:n], s.reads[:n], s.left[:n]
}

// maxCountedReads is up to how many reads of a contig byRank sorts by counting.
const maxCountedReads = 1 << 16

// byRank sorts contigs, which ascend: those with more reads first, of as many that which came first.
func (s *contigSet) byRank(contigs []uint32, threads int) {
	chunks := max(1, min(threads, len(contigs)/leastRanked))
	chunk := func(t int) []uint32 {
		from, to := divide(len(contigs), t, chunks)
		return contigs[from:to]
	}
	mosts := make([]uint64, chunks)
	tasks.Each(chunks, chunks, func(_, t int) {
		for _, c := range chunk(t) {
			mosts[t] = max(mosts[t], s.reads[c])
		}
	})
	most := slices.Max(mosts)
	if most >= maxCountedReads {
		slices.SortStableFunc(contigs, func(a, b uint32) int { return cmp.Compare(s.reads[b], s.reads[a]) })
		return
	}
	next := make([][]uint32, chunks) // by chunk: of its contigs of so many reads, where the next one belongs
	tasks.Each(chunks, chunks, func(_, t int) {
		next[t] = make([]uint32, most+1)
		for _, c := range chunk(t) {
			next[t][s.reads[c]]++
		}
	})
	at := uint32(0)
	for reads := int(most); reads >= 0; reads-- {
		for t := range next {
			next[t][reads], at = at, at+next[t][reads]
		}
	}
	sorted := largepages.Make[uint32](len(contigs))
	tasks.Each(chunks, chunks, func(_, t int) {
		for _, c := range chunk(t) {
			to := &next[t][s.reads[c]]
			sorted[*to] = c
			*to++
		}
	})
	tasks.Each(chunks, chunks, func(_, t int) {
		from, _ := divide(len(contigs), t, chunks)
		copy(chunk(t), sorted[from:])
	})
}

// leastRanked is how many contigs a goroutine of byRank has at least.
const leastRanked = 1 << 14

// rank puts the contigs in the order of byRank.
func (s *contigSet) rank(threads int) {
	if slices.IsSortedFunc(s.reads, func(a, b uint64) int { return int(int64(b) - int64(a)) }) {
		return
	}
	order := largepages.Make[uint32](s.count())
	inParallel(threads, len(order), 1<<16, func(_, from, to int) {
		for i := from; i < to; i++ {
			order[i] = uint32(i)
		}
	})
	s.byRank(order, threads)
	var sorted contigSet
	sorted.grow(len(order), threads, func(i int) (int, uint64) { return int(s.length[order[i]]), s.reads[order[i]] },
		func(i int, dst []byte) { copy(dst, s.of(order[i])) })
	inParallel(threads, len(order), taskRange, func(_, from, to int) {
		for i := from; i < to; i++ {
			sorted.left[i] = s.left[order[i]]
		}
	})
	*s = sorted
}
