package sim

import (
	"fmt"
	"math"
	"sort"
)

// The purposes of the random streams of a simulation.
const (
	streamGenome = iota
	streamTranscripts
	streamFragment
	streamDuplicate
	streamChunk
)

// fragment is a piece of the genome that is sequenced.
type fragment struct {
	start, length int
	reverse       bool
}

// library draws fragments. Fragment i is a function of the seed and i alone, so that any
// read can be the duplicate of any other without a table of what was drawn.
type library struct {
	genome  *Genome
	seed    uint64
	lengths lengths
	optical chance   // that a fragment is a copy of the one before
	pcr     chance   // that it is one of any before
	targets *targets // nil: the whole genome alike
}

// lengths is the distribution of the lengths of fragments: normal, or log-normal about the median.
type lengths struct {
	median, sigma float64
	logarithmic   bool
	least, most   int
}

func (l *lengths) draw(r *random) int {
	if l.least == l.most {
		return l.least
	}
	n := l.median + l.sigma*r.normal()
	if l.logarithmic {
		n = l.median * math.Exp(l.sigma*r.normal())
	}
	return min(max(int(n), l.least), l.most)
}

// fragment returns fragment i, which may be a duplicate of another.
func (l *library) fragment(i uint64) fragment {
	for l.optical+l.pcr != 0 && i > 0 {
		r := stream(l.seed, streamDuplicate, i)
		if r.hit(l.optical) {
			i--
		} else if r.hit(l.pcr) {
			i = r.below(i)
		} else {
			break
		}
	}
	return l.draw(i)
}

func (l *library) draw(i uint64) (f fragment) {
	r := stream(l.seed, streamFragment, i)
	letters := l.genome.letters
	for range 1000 {
		if t := l.targets; t != nil && t.whole {
			f.start, f.length = t.draw(&r)
			f.length -= f.start
		} else if f.length = l.lengths.draw(&r); t != nil {
			lo, hi := t.draw(&r)
			f.length = min(f.length, hi-lo)
			f.start = lo + int(r.below(uint64(hi-lo-f.length+1)))
		} else {
			f.start = int(r.below(uint64(len(letters))))
			_, hi := l.genome.contig(f.start)
			if f.start+f.length > hi {
				continue
			}
		}
		if letters[f.start] != 'N' && letters[f.start+f.length/2] != 'N' && letters[f.start+f.length-1] != 'N' {
			break
		}
	}
	// in a genome of mostly gaps no try may succeed: stay inside it
	if f.start+f.length > len(letters) {
		f.start = len(letters) - f.length
	}
	f.reverse = r.next()&1 == 1
	if l.targets != nil && l.targets.stranded {
		f.reverse = scramble(uint64(f.start))&1 == 1
	}
	return f
}

// targets are stretches of the genome and how much of the library comes from each.
type targets struct {
	start, end []int
	below      []uint64 // weight of the stretches up to and with i
	whole      bool     // fragments are whole stretches
	stranded   bool     // all fragments of a stretch have one direction
}

// add appends a stretch.
func (t *targets) add(start, end int, weight float64) {
	total := uint64(weight) + 1
	if n := len(t.below); n > 0 {
		total += t.below[n-1]
	}
	t.start, t.end, t.below = append(t.start, start), append(t.end, end), append(t.below, total)
}

// newStretches chooses so many stretches of least to most bases, anywhere, whose weight is log-normal with the given sigma.
func newStretches(g *Genome, seed uint64, count, least, most int, sigma float64, stranded bool) (*targets, error) {
	if g.longest() < most {
		return nil, fmt.Errorf("no contig has %d bases", most)
	}
	r := stream(seed, streamTranscripts, 0)
	t := &targets{whole: true, stranded: stranded}
	for len(t.start) < count {
		at, n := int(r.below(uint64(g.Size()))), least+int(r.below(uint64(most-least+1)))
		if _, end := g.contig(at); at+n <= end {
			t.add(at, at+n, 1e6*math.Exp(math.Min(sigma*r.normal(), 12)))
		}
	}
	return t, nil
}

// newTranscripts cuts the genome into transcripts of at least least bases, median 1,400,
// with gaps between, whose expression is log-normal with the given sigma.
func newTranscripts(g *Genome, seed uint64, least int, sigma float64) (*targets, error) {
	r := stream(seed, streamTranscripts, 0)
	t := &targets{}
	start := 0
	for _, end := range g.ends {
		for at := start + int(r.below(500)); ; {
			n := max(int(1400*math.Exp(0.7*r.normal())), least)
			if at+n > end {
				break
			}
			weight := math.Exp(math.Min(sigma*r.normal(), 12)) * float64(n)
			t.add(at, at+n, weight)
			at += n + int(r.below(1500))
		}
		start = end
	}
	if len(t.start) == 0 {
		return nil, fmt.Errorf("the genome has no room for a transcript of %d bases", least)
	}
	return t, nil
}

func (t *targets) draw(r *random) (start, end int) {
	u := r.below(t.below[len(t.below)-1])
	i := sort.Search(len(t.below), func(i int) bool { return t.below[i] > u })
	return t.start[i], t.end[i]
}
