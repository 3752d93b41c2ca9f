package groups

import (
	"math"
	"slices"

	"orcomgo/bases"
)

const (
	// K is the length of k-mers in bases: so long that one of a genome is hardly ever in another one by chance.
	K = 21
	// SketchSize is how many k-mers a sketch has at most.
	SketchSize = 4000
	// sketchedKmers is how many k-mers a Sketcher keeps at most.
	sketchedKmers = 1 << 18
)

// Sketch are some k-mers of a sample, those with the least hashes. Which of its k-mers a sample keeps depends on the k-mers alone, so
// that of two samples with common k-mers the same ones are kept (MinHash; for genomes and reads: Ondov et al., Mash: fast genome
// and metagenome distance estimation using MinHash, Genome Biology 2016, DOI 10.1186/s13059-016-0997-x).
type Sketch struct {
	// Solid are hashes of k-mers that were seen as often as wanted, at most SketchSize of them, ascending.
	Solid []uint64
	// Seen are the hashes, ascending, of all k-mers up to Limit.
	Seen []uint64
	// Again are those of Seen that were seen more than once.
	Again []uint64
	// Limit is the hash up to which all k-mers of the sample are in the sketch.
	Limit uint64
	// Bases and Windows are how many bases and k-mers were added, the same ones as often as they were.
	Bases, Windows uint64
	// Assembly says that the text is FASTA, such as genomes.
	Assembly bool
	// Text is how many bytes of text the sample has, as far as it was read.
	Text uint64
}

// Sketcher makes the sketch of sequences. A k-mer and its reverse complement are the same. The order of the sequences does not matter.
type Sketcher struct {
	least byte // how often a solid k-mer is seen
	limit uint64
	// kmers is a hash table: hashes of k-mers up to limit, at or behind the place that their low bits say. counts are how often they were
	// seen, up to least; 0 where there is none.
	kmers  []uint64
	counts []byte
	n      int // k-mers in the table
	solid  int

	bases, windows uint64
}

// again is how often a k-mer is seen that is in Sketch.Again, at least.
const again = 2

// NewSketcher returns a Sketcher whose solid k-mers are seen at least so many times, 1 to 255: 1 for assemblies, 2 for reads, since
// most k-mers with errors are seen once.
func NewSketcher(least int) *Sketcher {
	return &Sketcher{least: byte(least), limit: math.MaxUint64, kmers: make([]uint64, 1<<12), counts: make([]byte, 1<<12)}
}

// window is where a Sketcher is in a sequence.
type window struct {
	forward, reverse uint64 // the last K bases, and their reverse complement
	bases            int    // how many of them there are since the last letter that is no base
}

// add adds the next bases of a sequence.
func (s *Sketcher) add(w *window, seq []byte) {
	const mask = 1<<(2*K) - 1
	forward, reverse, known := w.forward, w.reverse, w.bases
	valid, windows := 0, 0
	for _, letter := range seq {
		c := uint64(bases.Code(letter))
		if c == bases.NoBase {
			known = 0
			continue
		}
		forward = (forward<<2 | c) & mask
		reverse = reverse>>2 | (3-c)<<(2*K-2)
		valid++
		if known++; known >= K {
			windows++
			if hash := mix(min(forward, reverse)); hash <= s.limit {
				s.count(hash)
			}
		}
	}
	w.forward, w.reverse, w.bases = forward, reverse, known
	s.bases, s.windows = s.bases+uint64(valid), s.windows+uint64(windows)
}

// count counts a k-mer.
func (s *Sketcher) count(hash uint64) {
	i := s.place(hash)
	switch {
	case s.counts[i] == 0:
		s.kmers[i] = hash
		s.n++
	case s.counts[i] >= max(s.least, again):
		return
	}
	if s.counts[i]++; s.counts[i] == s.least {
		s.solid++
	}
	for s.n > sketchedKmers || s.solid >= 4*SketchSize {
		s.limit /= 2
		s.rehash(len(s.kmers))
	}
	if s.n > len(s.kmers)/2 {
		s.rehash(2 * len(s.kmers))
	}
}

// place returns where a k-mer is in the table, or where it is to be.
func (s *Sketcher) place(hash uint64) int {
	mask := len(s.kmers) - 1
	i := int(hash) & mask
	for s.counts[i] > 0 && s.kmers[i] != hash {
		i = (i + 1) & mask
	}
	return i
}

// rehash makes a table of so many places of what is within the limit.
func (s *Sketcher) rehash(size int) {
	kmers, counts := s.kmers, s.counts
	s.kmers, s.counts, s.n, s.solid = make([]uint64, size), make([]byte, size), 0, 0
	for i, hash := range kmers {
		if counts[i] == 0 || hash > s.limit {
			continue
		}
		at := s.place(hash)
		s.kmers[at], s.counts[at] = hash, counts[i]
		s.n++
		if counts[i] >= s.least {
			s.solid++
		}
	}
}

// Sketch returns the sketch of what was added.
func (s *Sketcher) Sketch() *Sketch {
	k := &Sketch{Limit: s.limit, Bases: s.bases, Windows: s.windows}
	for i, n := range s.counts {
		if n >= s.least {
			k.Solid = append(k.Solid, s.kmers[i])
		}
	}
	slices.Sort(k.Solid)
	if len(k.Solid) > SketchSize {
		k.Solid = k.Solid[:SketchSize:SketchSize]
		k.Limit = k.Solid[SketchSize-1]
	}
	for i, n := range s.counts {
		if n > 0 && s.kmers[i] <= k.Limit {
			k.Seen = append(k.Seen, s.kmers[i])
			if n >= again {
				k.Again = append(k.Again, s.kmers[i])
			}
		}
	}
	slices.Sort(k.Seen)
	slices.Sort(k.Again)
	return k
}

// leastCommon is of how many k-mers at least a share is known.
const leastCommon = 20

// Contained returns about which share of the solid k-mers of s are in o, 0 if the sketches don't tell.
func (s *Sketch) Contained(o *Sketch) float64 {
	limit := min(s.Limit, o.Limit)
	all, common, at := 0, 0, 0
	for _, hash := range s.Solid {
		if hash > limit {
			break
		}
		all++
		for at < len(o.Seen) && o.Seen[at] < hash {
			at++
		}
		if at < len(o.Seen) && o.Seen[at] == hash {
			common++
		}
	}
	if all < leastCommon {
		return 0
	}
	return float64(common) / float64(all)
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014), which
// maps numbers one to one to numbers that look random.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
