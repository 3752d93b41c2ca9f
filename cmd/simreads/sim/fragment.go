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
	genome      *Genome
	seed        uint64
	lengths     lengths
	optical     chance
	transcripts *transcripts // nil: the whole genome alike
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
	for ; l.optical != 0 && i > 0; i-- {
		if r := stream(l.seed, streamDuplicate, i); !r.hit(l.optical) {
			break
		}
	}
	return l.draw(i)
}

func (l *library) draw(i uint64) (f fragment) {
	r := stream(l.seed, streamFragment, i)
	letters := l.genome.letters
	for range 1000 {
		f.length = l.lengths.draw(&r)
		if l.transcripts != nil {
			lo, hi := l.transcripts.draw(&r)
			f.length = min(f.length, hi-lo)
			f.start = lo + int(r.below(uint64(hi-lo-f.length+1)))
		} else {
			f.start = int(r.below(uint64(len(letters))))
			lo, hi := l.genome.contig(f.start)
			if hi-lo < f.length {
				continue
			}
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
	return f
}

// transcripts are stretches of the genome and how much of the library comes from each.
type transcripts struct {
	start, end []int
	below      []uint64 // weight of the transcripts up to and with i
}

// newTranscripts cuts the genome into transcripts of at least least bases, median 1,400,
// with gaps between, whose expression is log-normal with the given sigma.
func newTranscripts(g *Genome, seed uint64, least int, sigma float64) (*transcripts, error) {
	r := stream(seed, streamTranscripts, 0)
	t := &transcripts{}
	total, start := uint64(0), 0
	for _, end := range g.ends {
		for at := start + int(r.below(500)); ; {
			n := max(int(1400*math.Exp(0.7*r.normal())), least)
			if at+n > end {
				break
			}
			weight := math.Exp(math.Min(sigma*r.normal(), 12)) * float64(n)
			total += uint64(weight) + 1
			t.start, t.end, t.below = append(t.start, at), append(t.end, at+n), append(t.below, total)
			at += n + int(r.below(1500))
		}
		start = end
	}
	if len(t.start) == 0 {
		return nil, fmt.Errorf("the genome has no room for a transcript of %d bases", least)
	}
	return t, nil
}

func (t *transcripts) draw(r *random) (start, end int) {
	u := r.below(t.below[len(t.below)-1])
	i := sort.Search(len(t.below), func(i int) bool { return t.below[i] > u })
	return t.start[i], t.end[i]
}
