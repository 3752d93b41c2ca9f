package bwt

import (
	"encoding/binary"
	"math/bits"

	"orcomgo/internal/largepages"
	"orcomgo/internal/tasks"
)

const (
	keyBits    = 32      // of the text, by which suffixes are sorted at a time; the place of a suffix has the other bits of a word
	keyed      = 3       // so many keys are compared, then ranks
	bucketBits = 20      // at most: of the text, by which suffixes are distributed to buckets
	minShare   = 1 << 14 // symbols that are worth a thread of their own
	someGroups = 1 << 8  // a thread takes so many groups at a time
)

// sorter sorts the suffixes of a text: by the first bits of the text in which each symbol has as many bits as needed, then by prefix
// doubling (Manber and Myers, "Suffix arrays: a new method for on-line string searches", 1993), of which each round is for those only that
// are still equal (Larsson and Sadakane, "Faster suffix sorting", 2007).
type sorter struct {
	packed  []byte // the text in symbols of width bits, the first one highest, and zeros after it
	width   int
	threads int
	order   []uint32 // the suffixes, as far as they are sorted
	rank    []uint32 // by suffix: the place in order, of equal ones that of the first
	workers []worker
}

// worker has what one thread needs.
type worker struct {
	words, other []uint64
	equal, next  []group
	tied         []group // found by the thread
}

// group is the suffixes order[from:to], which are equal so far.
type group struct{ from, to uint32 }

// newSorter packs the text.
func newSorter(text []byte, threads int) *sorter {
	var number [256]uint16 // of a symbol; 0 is for the end of the text
	for _, c := range text {
		number[c] = 1
	}
	symbols := uint16(0)
	for c, there := range number {
		if there != 0 {
			symbols++
			number[c] = symbols
		}
	}
	s := &sorter{width: bits.Len16(symbols), threads: threads, order: largepages.Make[uint32](len(text)), workers: make([]worker, threads)}
	s.packed = make([]byte, (len(text)*s.width+7)/8+16) // a key of 8 bytes may begin in the symbol after the end
	s.eachShare(len(text), func(_, from, to int) {
		have, at, word := 0, from*s.width/8, uint64(0)
		for _, c := range text[from:to] {
			word, have = word<<s.width|uint64(number[c]), have+s.width
			for ; have >= 8; have -= 8 {
				s.packed[at] = byte(word >> (have - 8))
				at++
			}
		}
		if have > 0 {
			s.packed[at] = byte(word << (8 - have))
		}
	})
	return s
}

// eachShare calls f for shares of n suffixes, which begin at multiples of 64.
func (s *sorter) eachShare(n int, f func(share, from, to int)) {
	shares := s.shares(n)
	bound := func(i int) int {
		if i == shares {
			return n
		}
		return int(uint64(n)*uint64(i)/uint64(shares)) &^ 63
	}
	tasks.Each(shares, s.threads, func(_, i int) { f(i, bound(i), bound(i+1)) })
}

// shares returns how many shares n suffixes have.
func (s *sorter) shares(n int) int { return max(min(s.threads, n/minShare), 1) }

// bitsAt returns the 32 bits of the packed text from a bit on.
func (s *sorter) bitsAt(at uint64) uint32 {
	return uint32(binary.BigEndian.Uint64(s.packed[at>>3:]) << (at & 7) >> 32)
}

// sort sets order.
func (s *sorter) sort() {
	first := max(min(bits.Len(uint(len(s.order)))-4, bucketBits), 1)
	ends := s.distribute(first)
	tasks.Each(len(ends), s.threads, func(worker, i int) {
		from := uint32(0)
		if i > 0 {
			from = ends[i-1]
		}
		if ends[i] > from+1 {
			s.sortBits(&s.workers[worker], group{from, ends[i]}, uint64(first))
		}
	})
	tied := s.takeTied()
	if len(tied) == 0 {
		return
	}
	s.rank = largepages.Make[uint32](len(s.order))
	s.eachShare(len(s.order), func(_, from, to int) { s.number(group{uint32(from), uint32(to)}) })
	for depth := (first + keyed*keyBits) / s.width; ; depth *= 2 {
		s.each(tied, func(_ *worker, g group) {
			for _, p := range s.order[g.from:g.to] {
				s.rank[p] = g.from
			}
		})
		if len(tied) == 0 {
			return
		}
		s.each(tied, func(w *worker, g group) { s.sortRanks(w, g, depth) })
		before := tied
		tied = s.takeTied()
		s.each(before, func(_ *worker, g group) { s.number(g) })
	}
}

// number gives each suffix of a group its place as its rank.
func (s *sorter) number(g group) {
	for i, p := range s.order[g.from:g.to] {
		s.rank[p] = g.from + uint32(i)
	}
}

// each calls f for each group.
func (s *sorter) each(groups []group, f func(w *worker, g group)) {
	tasks.Each((len(groups)+someGroups-1)/someGroups, s.threads, func(worker, i int) {
		for _, g := range groups[i*someGroups : min((i+1)*someGroups, len(groups))] {
			f(&s.workers[worker], g)
		}
	})
}

// takeTied returns the groups that the threads have found.
func (s *sorter) takeTied() (all []group) {
	for i := range s.workers {
		all = append(all, s.workers[i].tied...)
		s.workers[i].tied = nil
	}
	return all
}

// distribute puts the suffixes into order by so many bits of the text, and returns the ends of the buckets.
func (s *sorter) distribute(first int) (ends []uint32) {
	n, drop := len(s.order), keyBits-first
	counts := make([][]uint32, s.shares(n))
	bucket := func(i int) uint32 { return s.bitsAt(uint64(i)*uint64(s.width)) >> drop }
	s.eachShare(n, func(share, from, to int) {
		count := make([]uint32, 1<<first)
		for i := from; i < to; i++ {
			count[bucket(i)]++
		}
		counts[share] = count
	})
	ends = make([]uint32, 1<<first)
	sum := uint32(0)
	for b := range ends {
		for _, count := range counts {
			sum, count[b] = sum+count[b], sum
		}
		ends[b] = sum
	}
	s.eachShare(n, func(share, from, to int) {
		next := counts[share]
		for i := from; i < to; i++ {
			b := bucket(i)
			s.order[next[b]] = uint32(i)
			next[b]++
		}
	})
	return ends
}

// sortBits sorts a group, whose suffixes have the first bits in common, by one key after another.
func (s *sorter) sortBits(w *worker, g group, first uint64) {
	equal, next := append(w.equal[:0], g), w.next[:0]
	for depth := first; depth < first+keyed*keyBits; depth += keyBits {
		next = next[:0]
		for _, g := range equal {
			next = s.sortBy(w, g, next, func(p uint32) uint32 { return s.bitsAt(uint64(p)*uint64(s.width) + depth) })
		}
		equal, next = next, equal
	}
	w.equal, w.next = equal, next
	w.tied = append(w.tied, equal...)
}

// sortRanks sorts a group, whose suffixes have depth symbols in common, by the ranks of the suffixes after these symbols.
func (s *sorter) sortRanks(w *worker, g group, depth int) {
	w.tied = s.sortBy(w, g, w.tied, func(p uint32) uint32 {
		if int(p)+depth == len(s.order) {
			return 0
		}
		return s.rank[int(p)+depth] + 1
	})
}

// sortBy sorts a group by a key, and appends the groups of those with equal keys to equal.
func (s *sorter) sortBy(w *worker, g group, equal []group, key func(p uint32) uint32) []group {
	n := int(g.to - g.from)
	if len(w.words) < n {
		w.words, w.other = make([]uint64, n+n/4), make([]uint64, n+n/4)
	}
	words, order := w.words[:n], s.order[g.from:g.to]
	for i, p := range order {
		words[i] = uint64(key(p))<<keyBits | uint64(p)
	}
	sortWords(words, w.other[:n], 64, keyBits)
	first := 0 // of those with the key of the last word
	for i, x := range words {
		order[i] = uint32(x)
		if x>>keyBits != words[first]>>keyBits {
			if i > first+1 {
				equal = append(equal, group{g.from + uint32(first), g.from + uint32(i)})
			}
			first = i
		}
	}
	if n > first+1 {
		equal = append(equal, group{g.from + uint32(first), g.to})
	}
	return equal
}
