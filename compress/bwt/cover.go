package bwt

import (
	"slices"

	"orcomgo/internal/largepages"
	"orcomgo/internal/tasks"
)

// A difference cover: for any two numbers modulo coverSize there is a distance after which both are in it. So the order of the
// suffixes that begin at its numbers modulo coverSize decides between any two suffixes that agree in coverSize symbols (Burkhardt
// and Karkkainen, "Fast lightweight suffix array construction and checking", 2003).
var cover = [coverCount]uint8{1, 2, 3, 6, 15, 17, 35, 43, 60}

const (
	coverSize  = 64
	coverCount = 9
	coverMask  = coverSize - 1
)

var (
	coverBits  uint64                      // bit i is set if i is in the cover
	coverBelow [coverSize]uint8            // numbers of the cover below i
	coverDelta [coverSize][coverSize]uint8 // the least distance after which both are in the cover
)

func init() {
	for _, d := range cover {
		coverBits |= 1 << d
	}
	for i := range coverSize {
		for _, d := range cover {
			if int(d) < i {
				coverBelow[i]++
			}
		}
		for j := range coverSize {
			for d := range coverSize {
				if coverBits>>((i+d)&coverMask)&1 == 1 && coverBits>>((j+d)&coverMask)&1 == 1 {
					coverDelta[i][j] = uint8(d)
					break
				}
			}
		}
	}
}

// sampleNumber returns how many sampled symbols are before symbol p: the number of the sample at p, if there is one.
func sampleNumber(p uint64) uint64 { return p>>6*coverCount + uint64(coverBelow[p&coverMask]) }

// ranks are the ranks of the sampled suffixes, by the number of the sample. After them are ranks of places after the end of the text,
// which are below all others and fall with the place: a suffix that ends is less than what goes on, and the shorter is less.
type ranks struct {
	of      []uint32
	samples uint64 // those within the text
}

// afterEnd is how many samples after the end have ranks: one for each of the places that differ by less than coverSize from one within.
const afterEnd = 2 * coverCount

// less compares two suffixes that agree in coverSize symbols, or in all symbols of the shorter one.
func (r *ranks) less(p, q uint64) bool {
	d := uint64(coverDelta[p&coverMask][q&coverMask])
	return r.of[sampleNumber(p+d)] < r.of[sampleNumber(q+d)]
}

// tie is a group of sampled suffixes that are not ordered yet: their first rank, and how many they are.
type tie struct{ first, size uint32 }

// newRanks sorts the sampled suffixes of t.
func newRanks(t *codedText, text []byte, threads int) *ranks {
	r := &ranks{samples: sampleNumber(uint64(t.n))}
	r.of = largepages.Make[uint32](int(r.samples) + afterEnd)
	for i := range uint32(afterEnd) {
		r.of[r.samples+uint64(i)] = afterEnd - i
	}
	order := largepages.Make[uint32](int(r.samples)) // samples by rank
	m := new(memory)
	s := newSorter(m, t, threads, []uint64{coverBits}, nil)
	s.run(text, func(first uint64, a []uint64, ties []tie) {
		next := 0
		for i, e := range a {
			rank := uint32(first) + uint32(i)
			if next < len(ties) && rank >= ties[next].first {
				// Suffixes of a tie have the rank of the first of them.
				t := ties[next]
				if rank == t.first+t.size-1 {
					next++
				}
				rank = t.first
			}
			n := sampleNumber(s.symbol(e))
			order[first+uint64(i)] = uint32(n)
			r.of[n] = rank + afterEnd + 1
		}
	})
	r.double(m, order, s.ties(), threads)
	return r
}

// double orders the ties by prefix doubling: samples that agree in h*coverSize symbols are sorted by the ranks of the samples so many
// symbols after them (Larsson and Sadakane, "Faster suffix sorting", 2007, section 3).
func (r *ranks) double(m *memory, order []uint32, ties []tie, threads int) {
	for h := uint64(coverCount); len(ties) > 0; h *= 2 {
		chunks := cutTies(ties, threads*8)
		left := make([][]tie, len(chunks)-1)
		// The ranks change only when all ties were sorted, so that the result of a round doesn't depend on the threads.
		scratch := make([]words, threads)
		total := 0
		for _, t := range ties {
			total += int(t.size)
		}
		giant := giantSize(total, threads)
		tasks.Each(len(left), threads, func(w, i int) {
			for _, t := range ties[chunks[i]:chunks[i+1]] {
				if int(t.size) < giant {
					r.sortTie(order[t.first:t.first+t.size], h, &scratch[w])
				}
			}
		})
		for _, t := range ties {
			if int(t.size) >= giant {
				r.sortGiantTie(m, order[t.first:t.first+t.size], h, threads)
			}
		}
		// A new tie is a run of equal ranks h samples on. Which runs these are is found before any rank changes.
		tasks.Each(len(left), threads, func(w, i int) {
			for _, t := range ties[chunks[i]:chunks[i+1]] {
				left[i] = r.split(left[i], order[t.first:t.first+t.size], t.first, h)
			}
		})
		tasks.Each(len(left), threads, func(w, i int) {
			for _, t := range left[i] {
				for _, n := range order[t.first : t.first+t.size] {
					r.of[n] = t.first + afterEnd + 1
				}
			}
		})
		ties = ties[:0]
		for _, l := range left {
			for _, t := range l {
				if t.size > 1 {
					ties = append(ties, t)
				}
			}
		}
	}
}

// cutTies divides ties into chunks of about as many samples.
func cutTies(ties []tie, chunks int) []int {
	total := 0
	for _, t := range ties {
		total += int(t.size)
	}
	bounds := []int{0}
	sum := 0
	for i, t := range ties {
		if sum += int(t.size); sum >= total/chunks+1 {
			bounds, sum = append(bounds, i+1), 0
		}
	}
	if bounds[len(bounds)-1] != len(ties) {
		bounds = append(bounds, len(ties))
	}
	return bounds
}

// words is memory that grows as needed.
type words struct{ a, tmp []uint64 }

func (w *words) grow(n int) {
	if len(w.a) < n {
		w.a, w.tmp = make([]uint64, n), make([]uint64, n)
	}
}

// key returns what orders sample n after h samples: less for a place after the end, and the less the further; 33 bits.
func (r *ranks) key(n, h uint64) uint64 {
	if n+h < r.samples {
		return 1<<32 + uint64(r.of[n+h])
	}
	return 1<<32 - 1 - (n + h - r.samples)
}

const (
	tieBits = 31 // of the number of a sample in its tie, below its key
	tieMask = 1<<tieBits - 1
)

// sortTie sorts the samples of a tie by their keys.
func (r *ranks) sortTie(group []uint32, h uint64, s *words) {
	s.grow(len(group))
	a, tmp := s.a[:len(group)], s.tmp[:len(group)]
	for i, n := range group {
		a[i] = r.key(uint64(n), h)<<tieBits | uint64(i)
	}
	sortWords(a, tmp, 64, tieBits)
	permute(group, a, tmp)
}

// permute puts the samples of a tie in the order of the words.
func permute(group []uint32, a, tmp []uint64) {
	for i, n := range group {
		tmp[i] = uint64(n)
	}
	for i, x := range a {
		group[i] = uint32(tmp[x&tieMask])
	}
}

// sortGiantTie is sortTie by several threads.
func (r *ranks) sortGiantTie(m *memory, group []uint32, h uint64, threads int) {
	a, tmp := reuse(&m.giant[0], len(group)), reuse(&m.giant[1], len(group))
	shares := cut(len(group), threads)
	parallel(len(shares)-1, threads, func(s int) {
		for i := shares[s]; i < shares[s+1]; i++ {
			a[i] = r.key(uint64(group[i]), h)<<tieBits | uint64(i)
		}
	})
	parallelSort(a, tmp, threads, func(x, y uint64) bool { return x < y }, func(_ int, a, tmp []uint64) { sortWords(a, tmp, 64, tieBits) })
	permute(group, a, tmp)
}

// split appends the runs of equal keys in a sorted tie that begins at rank first.
func (r *ranks) split(ties []tie, group []uint32, first uint32, h uint64) []tie {
	start := 0
	last := r.key(uint64(group[0]), h)
	for i, n := range group {
		if k := r.key(uint64(n), h); k != last {
			ties = append(ties, tie{first + uint32(start), uint32(i - start)})
			start, last = i, k
		}
	}
	return append(ties, tie{first + uint32(start), uint32(len(group) - start)})
}

// parallelSort sorts words that all differ, by several threads: a few of them divide the others into buckets, and each bucket is sorted
// by sortBucket. tmp is as long as a.
func parallelSort(a, tmp []uint64, threads int, less func(x, y uint64) bool, sortBucket func(worker int, a, tmp []uint64)) {
	buckets := min(1024, len(a)>>12)
	if threads <= 1 || buckets < 2 {
		sortBucket(0, a, tmp)
		return
	}
	const oversample = 8
	chosen := make([]uint64, buckets*oversample)
	for i := range chosen {
		// Steps of a fraction of the golden ratio, so that periods in a are not followed.
		chosen[i] = a[uint64(i)*0x9e3779b97f4a7c15>>32*uint64(len(a))>>32]
	}
	slices.SortFunc(chosen, func(x, y uint64) int {
		switch {
		case less(x, y):
			return -1
		case less(y, x):
			return 1
		}
		return 0
	})
	splitters := make([]uint64, buckets-1)
	for i := range splitters {
		splitters[i] = chosen[(i+1)*oversample]
	}
	shares := cut(len(a), threads*4)
	bucketOf := largepages.Make[uint16](len(a))
	counts := make([][]uint32, len(shares)-1)
	parallel(len(counts), threads, func(s int) {
		c := make([]uint32, buckets)
		for i := shares[s]; i < shares[s+1]; i++ {
			lo, hi := 0, len(splitters) // the number of splitters that are not above a[i]
			for lo < hi {
				if m := (lo + hi) / 2; less(a[i], splitters[m]) {
					hi = m
				} else {
					lo = m + 1
				}
			}
			bucketOf[i] = uint16(lo)
			c[lo]++
		}
		counts[s] = c
	})
	starts := make([]int, buckets+1)
	sum := 0
	for b := range buckets {
		starts[b] = sum
		for s := range counts {
			c := int(counts[s][b])
			counts[s][b] = uint32(sum)
			sum += c
		}
	}
	starts[buckets] = sum
	parallel(len(counts), threads, func(s int) {
		at := counts[s]
		for i := shares[s]; i < shares[s+1]; i++ {
			b := bucketOf[i]
			tmp[at[b]] = a[i]
			at[b]++
		}
	})
	tasks.Each(buckets, threads, func(w, b int) {
		part := a[starts[b]:starts[b+1]]
		copy(part, tmp[starts[b]:starts[b+1]])
		sortBucket(w, part, tmp[starts[b]:starts[b+1]])
	})
}
