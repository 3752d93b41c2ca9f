package bwt

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"orcomgo/internal/largepages"
	"orcomgo/internal/tasks"
)

// sorter sorts some suffixes of a coded text.
//
// A suffix is an entry of 64 bits: its place, and above it a key, which is that many bits of the coded text. At first these are the bits
// after the first bucketBits.
//
// Suffixes are distributed to buckets by their first bucketBits. Each bucket is sorted by one thread: by radix sort of the entries; then
// those with equal keys by the next bits, until they agree in coverSize symbols; then by the ranks of sampled suffixes. Buckets that are
// too large for one thread are sorted by all.
type sorter struct {
	memory  *memory
	t       *codedText
	threads int
	chosen  []uint64 // bit i&63 of word i>>6 is set if the suffix at i is sorted; one word is for all
	// rankSample sorts the sample when its ranks are needed, which they are not for texts without long repeats. It is nil while the
	// sample itself is sorted.
	rankSample func() *ranks

	low     int    // bits of a place, which are below the key
	keyBits int    // bits of a key
	shallow uint64 // bits that hold fewer than coverSize symbols, most often

	workers []worker

	_ [128]byte // what is before it is only read by the threads, and in no line of the cache with what they write
	// readAhead is how many suffixes that agree in coverSize symbols may still be compared by the next bits: where they are few, that is
	// faster than sorting the sample.
	readAhead atomic.Int64

	mutex   sync.Mutex
	allTies [][]tie // of ranges of ranks
}

const bucketBits = 11

func newSorter(m *memory, t *codedText, threads int, chosen []uint64, rankSample func() *ranks) *sorter {
	s := &sorter{memory: m, t: t, threads: threads, chosen: chosen}
	if rankSample != nil {
		s.readAhead.Store(max(int64(t.n), 1<<16))
		s.rankSample = sync.OnceValue(rankSample)
	}
	s.low = bits.Len64(t.total / t.unit)
	s.keyBits = min(64-s.low, 57-bucketBits)
	s.shallow = coverSize * t.total / uint64(t.n) * 3 / 4
	s.workers = make([]worker, threads)
	for i := range s.workers {
		s.workers[i].s = s
	}
	return s
}

// at returns the first bit of an entry's suffix.
func (s *sorter) at(e uint64) uint64 { return e & (1<<s.low - 1) * s.t.unit }

// symbol returns the number of the first symbol of an entry's suffix.
func (s *sorter) symbol(e uint64) uint64 {
	place := e & (1<<s.low - 1)
	if s.t.width > 0 {
		return place
	}
	return s.t.symbolAt(place) - 1
}

// giantSize is from how many suffixes of total on a group is sorted by all threads.
func giantSize(total, threads int) int { return max(total/(threads*2), 1<<18) }

// bucketCounts counts the suffixes of a share of the text in each bucket, and then says where the next one goes.
type bucketCounts [1 << bucketBits]uint32

// run sorts the chosen suffixes and calls emit for consecutive ranges of them, by several threads: the rank of the first, the entries in
// order, and the groups among them that agree in coverSize symbols if there are no ranks to order them.
func (s *sorter) run(text []byte, emit func(first uint64, a []uint64, ties []tie)) {
	shares := cutWords(len(text), s.threads*4)
	starts := make([]uint64, len(shares)) // first bit of each share
	counts := make([]bucketCounts, len(shares)-1)
	parallel(len(counts), s.threads, func(i int) {
		starts[i] = s.firstBit(shares[i])
		s.scatter(nil, text, shares[i], shares[i+1], starts[i], &counts[i])
	})
	var sizes [1 << bucketBits]int
	total := uint32(0)
	for b := range sizes {
		first := total
		for i := range counts {
			counts[i][b], total = total, total+counts[i][b]
		}
		sizes[b] = int(total - first)
	}
	entries := reuse(&s.memory.entries, int(total))
	parallel(len(counts), s.threads, func(i int) { s.scatter(entries, text, shares[i], shares[i+1], starts[i], &counts[i]) })
	s.sortBuckets(entries, sizes[:], emit)
}

// firstBit returns the first bit of symbol i.
func (s *sorter) firstBit(i int) uint64 {
	t := s.t
	if t.width > 0 {
		return uint64(i) * t.width
	}
	if i >= t.n {
		return t.total
	}
	// The last word before which at most i symbols begin.
	lo, hi := 0, len(t.marks)-1
	for lo < hi {
		if m := (lo + hi + 1) / 2; t.marks[m].before <= uint64(i) && uint64(m)*64 < t.total {
			lo = m
		} else {
			hi = m - 1
		}
	}
	starts := t.marks[lo].starts
	for range uint64(i) - t.marks[lo].before {
		starts &^= 1 << (63 - bits.LeadingZeros64(starts))
	}
	return uint64(lo)*64 + uint64(bits.LeadingZeros64(starts))
}

// sortBuckets sorts buckets of the given sizes.
func (s *sorter) sortBuckets(entries []uint64, sizes []int, emit func(first uint64, a []uint64, ties []tie)) {
	type bucket struct {
		start, size int
		depth       uint64 // bits after the place of a suffix that the bucket gives
	}
	var all []bucket
	start := 0
	for i, n := range sizes {
		if n > 0 {
			all = append(all, bucket{start, n, s.t.bucketDepth(uint64(i))})
		}
		start += n
	}
	slices.SortFunc(all, func(x, y bucket) int { return y.size - x.size })
	giant := giantSize(len(entries), s.threads)
	for len(all) > 0 && all[0].size >= giant && s.threads > 1 {
		b := all[0]
		all = all[1:]
		s.sortGiant(entries[b.start:b.start+b.size], uint64(b.start), b.depth, giant, emit)
	}
	tasks.Each(len(all), s.threads, func(w, i int) {
		b := all[i]
		a := entries[b.start : b.start+b.size]
		rank := uint64(b.start)
		s.workers[w].sort(a, rank, b.depth)
		s.workers[w].flush(rank, a, emit)
	})
}

// flush emits sorted entries.
func (w *worker) flush(rank uint64, a []uint64, emit func(first uint64, a []uint64, ties []tie)) {
	sortTies(w.ties)
	emit(rank, a, w.ties)
	if len(w.ties) > 0 {
		w.s.mutex.Lock()
		w.s.allTies = append(w.s.allTies, slices.Clone(w.ties))
		w.s.mutex.Unlock()
		w.ties = w.ties[:0]
	}
}

func sortTies(ties []tie) {
	slices.SortFunc(ties, func(x, y tie) int { return cmp.Compare(x.first, y.first) })
}

// ties returns the groups that were not ordered, by rank.
func (s *sorter) ties() []tie {
	slices.SortFunc(s.allTies, func(x, y []tie) int { return cmp.Compare(x[0].first, y[0].first) })
	return slices.Concat(s.allTies...)
}

// sortGiant sorts entries that agree in depth bits and have the keys of the bits after them, by all threads, and emits them.
func (s *sorter) sortGiant(a []uint64, rank uint64, depth uint64, giant int, emit func(first uint64, a []uint64, ties []tie)) {
	if !s.equalKeys(a) { // they often are, in lines that begin alike
		tmp := reuse(&s.memory.giant[0], len(a))
		parallelSort(a, tmp, s.threads, func(x, y uint64) bool { return x < y }, func(_ int, a, tmp []uint64) {
			sortWords(a, tmp, s.low+s.keyBits, s.low)
		})
	}
	depth += uint64(s.keyBits)
	// Shares end where groups of equal keys do.
	var giants []group
	shares := cut(len(a), s.threads*8)
	parallel(len(shares)-2, s.threads, func(i int) {
		i = len(shares) - 2 - i
		bound := shares[i]
		for bound < len(a) && (a[bound]^a[bound-1])>>s.low == 0 {
			bound++
		}
		shares[i] = bound
	})
	var mutex sync.Mutex
	tasks.Each(len(shares)-1, s.threads, func(w, i int) {
		worker := &s.workers[w]
		from := shares[i]
		flush := func(to int) {
			if from < to {
				worker.refine(a[from:to], rank+uint64(from), depth)
				worker.flush(rank+uint64(from), a[from:to], emit)
			}
		}
		for start := from; start < shares[i+1]; {
			next := start + 1
			for next < shares[i+1] && (a[start]^a[next])>>s.low == 0 {
				next++
			}
			if next-start >= giant {
				flush(start)
				from = next
				mutex.Lock()
				giants = append(giants, group{uint32(start), uint32(next - start)})
				mutex.Unlock()
			}
			start = next
		}
		flush(shares[i+1])
	})
	slices.SortFunc(giants, func(x, y group) int { return cmp.Compare(x.start, y.start) })
	for _, g := range giants {
		part, first := a[g.start:g.start+g.size], rank+uint64(g.start)
		if !s.deep(part[0], depth) || s.workers[0].readOn(part, depth) {
			shares := cut(len(part), s.threads*4)
			parallel(len(shares)-1, s.threads, func(i int) { s.nextKeys(part[shares[i]:shares[i+1]], depth) })
			s.sortGiant(part, first, depth, giant, emit)
			continue
		}
		if s.rankSample == nil {
			s.workers[0].ties = append(s.workers[0].ties, tie{uint32(first), uint32(len(part))})
			s.workers[0].flush(first, part, emit)
			continue
		}
		s.sortGiantDeep(part)
		shares := cut(len(part), s.threads*4)
		parallel(len(shares)-1, s.threads, func(i int) { emit(first+uint64(shares[i]), part[shares[i]:shares[i+1]], nil) })
	}
}

// equalKeys reports whether all entries have the same key.
func (s *sorter) equalKeys(a []uint64) bool {
	shares := cut(len(a), s.threads*4)
	var differ atomic.Bool
	parallel(len(shares)-1, s.threads, func(i int) {
		for _, e := range a[shares[i]:shares[i+1]] {
			if (e^a[0])>>s.low != 0 {
				differ.Store(true)
				return
			}
		}
	})
	return !differ.Load()
}

// sortGiantDeep is sortDeep by all threads.
func (s *sorter) sortGiantDeep(a []uint64) {
	words, tmp := reuse(&s.memory.giant[0], len(a)), largepages.Make[uint64](len(a))
	shares := cut(len(a), s.threads*4)
	parallel(len(shares)-1, s.threads, func(i int) {
		for j := shares[i]; j < shares[i+1]; j++ {
			words[j] = s.symbol(a[j])<<32 | uint64(j)
		}
	})
	r := s.rankSample()
	parallelSort(words, tmp, s.threads, func(x, y uint64) bool { return r.less(x>>32, y>>32) }, func(_ int, a, _ []uint64) { r.sort(a) })
	parallel(len(shares)-1, s.threads, func(i int) { copy(tmp[shares[i]:shares[i+1]], a[shares[i]:shares[i+1]]) })
	parallel(len(shares)-1, s.threads, func(i int) {
		for j := shares[i]; j < shares[i+1]; j++ {
			a[j] = tmp[uint32(words[j])]
		}
	})
}

// sort sorts places in the higher 32 bits of words.
func (r *ranks) sort(a []uint64) {
	if len(a) <= 16 {
		for i := 1; i < len(a); i++ {
			x := a[i]
			j := i
			for j > 0 && r.less(x>>32, a[j-1]>>32) {
				a[j] = a[j-1]
				j--
			}
			a[j] = x
		}
		return
	}
	slices.SortFunc(a, func(x, y uint64) int {
		if x == y {
			return 0
		}
		if r.less(x>>32, y>>32) {
			return -1
		}
		return 1
	})
}

// deep reports whether suffixes that agree with that of e in depth bits from their places on agree in coverSize symbols, or in all of its
// symbols. Of a group, e is the one that begins first.
func (s *sorter) deep(e, depth uint64) bool {
	if s.t.width > 0 {
		return depth >= coverSize*s.t.width
	}
	if depth < s.shallow {
		return false
	}
	at := s.at(e)
	// The last symbol that begins within depth bits may be compared in part only, but the first of the suffix is before these bits.
	return at+depth >= s.t.total || s.t.symbolAt(at+depth)-s.t.symbolAt(at) >= coverSize
}

// nextKeys gives entries the keys of the bits from depth on.
func (s *sorter) nextKeys(a []uint64, depth uint64) {
	low, shift := s.low, 64-s.keyBits
	for i, e := range a {
		a[i] = s.t.window(s.at(e)+depth)>>shift<<low | e&(1<<low-1)
	}
}
