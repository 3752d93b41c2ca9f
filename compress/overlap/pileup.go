package overlap

import (
	"math/bits"

	"orcomgo/bases"
)

// pileup is a contig under construction: its consensus, and how many reads have other bases, by column. The signature of all
// reads starts at column 0, so every read covers column 0. Most reads agree with the consensus in most columns. Only where they
// don't, the number of reads that do is needed; it follows from where the reads begin and end.
type pileup struct {
	lo, hi    int                         // covered columns: lo <= column < hi
	consensus []byte                      // packed; column c is base c + pileupOrigin
	others    [2 * pileupOrigin][4]uint16 // reads with each base but that of the consensus, by column + pileupOrigin
	edges     [2*pileupOrigin + 1]uint16  // reads that begin (up to column 0) or end before each column, by column + pileupOrigin
	reads     int
	counted   int    // reads that are counted in others and edges
	firstRead uint32 // index of the first read
}

// pileupOrigin is the number of columns before column 0, and of those from column 0 on.
const pileupOrigin = maxOverlapped

// maxCounted is the number of reads that a pileup counts at most, as its counts have 16 bits. Later ones only extend it.
const maxCounted = 59_999

// alignedRead is the part of a read that is aligned with pileups: n bases, the first of which is base `first` of the packed bases
// and in column start.
type alignedRead struct {
	bases           []byte
	first, start, n int
}

func newPileup() *pileup { return &pileup{consensus: make([]byte, 2*pileupOrigin/4+bases.Pad)} }

// reset removes all reads.
func (s *pileup) reset() {
	clear(s.others[s.lo+pileupOrigin : s.hi+pileupOrigin])
	clear(s.edges[s.lo+pileupOrigin : s.hi+pileupOrigin+1])
	s.lo, s.hi, s.reads, s.counted = 0, 0, 0, 0
}

// compare returns in how many bases a read differs from the consensus, and whether these are at most limit and at most one in
// twelve.
func (s *pileup) compare(r *alignedRead, limit int) (mismatches int, ok bool) {
	lo, hi := max(r.start, s.lo), min(r.start+r.n, s.hi)
	limit = min(limit, (hi-lo)/12)
	mismatches = bases.CountDiffering(s.consensus, lo+pileupOrigin, r.bases, r.first+lo-r.start, hi-lo, limit, nil)
	return mismatches, mismatches <= limit
}

// addRead adds a read. The consensus keeps the first base of a column until another has a higher count.
func (s *pileup) addRead(r *alignedRead) {
	end := r.start + r.n
	s.reads++
	if s.reads == 1 {
		s.lo, s.hi = r.start, end
		bases.Replace(s.consensus, r.start+pileupOrigin, r.bases, r.first, r.n)
	}
	lo, hi := s.lo, s.hi
	count := s.counted < maxCounted
	if count {
		for c := max(r.start, lo); c < min(end, hi); c += bases.PerChunk {
			x := bases.Chunk(r.bases, r.first+c-r.start)
			d := bases.Differing(bases.Chunk(s.consensus, c+pileupOrigin), x) & bases.First(min(bases.PerChunk, min(end, hi)-c))
			for ; d != 0; d &= d - 1 {
				k := bits.TrailingZeros64(d)
				s.countOther(c+k/2, byte(x>>uint(k)&3))
			}
		}
	}
	if r.start < lo {
		bases.Replace(s.consensus, r.start+pileupOrigin, r.bases, r.first, lo-r.start)
		s.lo = r.start
	}
	if end > hi {
		bases.Replace(s.consensus, hi+pileupOrigin, r.bases, r.first+hi-r.start, end-hi)
		s.hi = end
	}
	if count {
		s.counted++
		s.edges[r.start+pileupOrigin]++
		s.edges[end+pileupOrigin]++
	}
}

// supported returns the columns that several reads cover where there are many: the ends, which only one or two have, are wrong
// too often for the contig to agree with others.
func (s *pileup) supported() (lo, hi int) {
	lo, hi = s.lo, s.hi
	least := min(1+s.reads/readsForSupport, mostSupport)
	for begun := int(s.edges[lo+pileupOrigin]); lo < 0 && begun < least; begun += int(s.edges[lo+pileupOrigin]) {
		lo++
	}
	for ended := int(s.edges[hi+pileupOrigin]); hi > lo+1 && ended < least; ended += int(s.edges[hi+pileupOrigin]) {
		hi--
	}
	return lo, hi
}

// How many reads cover the ends of a contig: one, and one more for so many reads, up to so many.
const (
	readsForSupport = 8
	mostSupport     = 4
)

// countOther counts a base of a read, which is not counted yet, in a column where the consensus has another.
func (s *pileup) countOther(column int, base byte) {
	n := &s.others[column+pileupOrigin]
	n[base]++
	if n[base] == 1 {
		return // the consensus has been seen once at least
	}
	// Reads counted so far that cover the column and have the base of the consensus.
	agree := s.counted + 1 - int(n[0]) - int(n[1]) - int(n[2]) - int(n[3])
	if column < 0 {
		for _, begin := range s.edges[column+1+pileupOrigin : pileupOrigin+1] {
			agree -= int(begin)
		}
	} else {
		for _, end := range s.edges[pileupOrigin+1 : column+1+pileupOrigin] {
			agree -= int(end)
		}
	}
	if int(n[base]) > agree {
		at := column + pileupOrigin
		shift := 2 * uint(at&3)
		old := s.consensus[at>>2] >> shift & 3
		s.consensus[at>>2] ^= (old ^ base) << shift
		n[old], n[base] = uint16(agree), 0
	}
}
