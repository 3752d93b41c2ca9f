package sim

import (
	"fmt"
	"math"
)

// Profile names a kind of quality string.
type Profile int

// The quality profiles.
const (
	Levels41 Profile = iota // HiSeq: Phred 2 to 41
	Levels8                 // Illumina's eight bins: 2 6 15 22 27 33 37 40
	Levels4                 // NovaSeq: 2 11 25 37
	HiFi                    // PacBio circular consensus: mostly 93
	Nanopore                // 1 to 50, mean of a read 8 to 24
)

const (
	tableSize  = 1024
	noCall     = 2 // the quality of an N
	maxQuality = 93
)

// class is how good a stretch of a read is. Along it the drop below the cycle's best quality
// keeps its value with probability stay, and is drawn again otherwise. So neighbours are as
// similar as in real runs, while the distribution of a single base, and so the mean error, is
// exactly that of the table.
type class struct {
	weight float64
	stay   uint32 // of 1<<16
	drops  [tableSize]uint8
}

// qualities makes quality strings and the substitutions that go with them.
type qualities struct {
	classes []class
	pick    [256]uint8 // class by a random byte
	// best is the best quality a cycle can have: start for the first cycles, decline for
	// those after the point where the read's signal decays (its first entry is that point).
	start, decline []uint8
	declines       chance
	declineShare   float64
	letter         [maxQuality + 1]byte   // printed byte of a quality before binning
	errors         [maxQuality + 1]uint32 // error threshold, of 1<<32, of the same
}

// shape is the profile of a family of instruments before it is scaled to a mean error.
type shape struct {
	top      uint8
	caps     []uint8 // of the first cycles
	falls    []uint8 // after the decline point, the last for good; nil: no decline
	weights  []float64
	affected []float64 // how often a base of the class drops below the best
	depth    []float64 // mean drop of those
	stay     float64
	bins     []uint8
}

var illumina = shape{
	top:      41,
	caps:     []uint8{34, 34, 34, 37, 37, 37, 37, 37, 39, 39, 39, 39, 39},
	falls:    []uint8{39, 39, 39, 39, 39, 39, 37, 37, 37, 37, 37, 37, 37, 36, 36, 35},
	weights:  []float64{0.30, 0.28, 0.20, 0.12, 0.06, 0.04},
	affected: []float64{0.06, 0.15, 0.35, 0.8, 1.5, 3},
	depth:    []float64{2, 3, 5, 8, 11, 15},
	stay:     0.45,
}

var shapes = [...]shape{
	Levels41: illumina,
	Levels8:  withBins(illumina, 2, 6, 15, 22, 27, 33, 37, 40),
	Levels4:  withBins(illumina, 2, 11, 25, 37),
	HiFi: {
		top:      93,
		weights:  []float64{0.4, 0.3, 0.2, 0.1},
		affected: []float64{0.03, 0.1, 0.3, 0.9},
		depth:    []float64{25, 30, 35, 45},
		stay:     0.1,
	},
	Nanopore: {
		top:      50,
		weights:  []float64{0.2, 0.3, 0.3, 0.2},
		affected: []float64{3, 4, 5, 6},
		depth:    []float64{9, 13, 17, 21},
		stay:     0.35,
	},
}

func withBins(s shape, levels ...uint8) shape {
	s.bins = levels
	return s
}

// newQualities builds the profile for reads of up to length bases, scaled so that a base
// is wrong with probability meanError on average; 0 leaves the profile's own mean.
func newQualities(p Profile, length int, meanError float64) (*qualities, error) {
	s := shapes[p]
	if meanError == 0 {
		return s.build(length, 1), nil
	}
	lo, hi := 1e-6, 1e4
	least, most := s.build(length, lo).mean(length), s.build(length, hi).mean(length)
	if meanError < least || meanError > most {
		return nil, fmt.Errorf("mean error %g is out of this profile's reach (%.3g to %.3g)", meanError, least, most)
	}
	for range 60 {
		mid := math.Sqrt(lo * hi)
		if s.build(length, mid).mean(length) < meanError {
			lo = mid
		} else {
			hi = mid
		}
	}
	return s.build(length, lo), nil
}

// build returns the tables of the shape with its drops made theta times as frequent.
func (s *shape) build(length int, theta float64) *qualities {
	q := &qualities{classes: make([]class, len(s.weights))}
	q.start = make([]uint8, length)
	for i := range q.start {
		q.start[i] = s.top
		if i < len(s.caps) {
			q.start[i] = s.caps[i]
		}
	}
	if s.falls != nil {
		q.decline = make([]uint8, length)
		for i := range q.decline {
			q.decline[i] = s.falls[min(i, len(s.falls)-1)]
		}
		q.declineShare = math.Min(1, 0.8*theta)
		q.declines = chanceOf(q.declineShare)
	}
	for v := range q.letter {
		level := uint8(v)
		if s.bins != nil {
			level = s.bins[0]
			for _, b := range s.bins[1:] {
				// a level is used for the qualities around it
				if v >= (int(b)+int(level))/2 {
					level = b
				}
			}
		}
		q.letter[v] = level + 33
		q.errors[v] = uint32(math.Min(math.Pow(10, -float64(level)/10)*(1<<32), 1<<32-1))
	}
	filled, sum := 0, 0.0
	for i := range q.classes {
		c := &q.classes[i]
		c.weight, c.stay = s.weights[i], uint32(s.stay*(1<<16))
		sum += c.weight
		for ; filled < 256 && float64(filled) < sum*256; filled++ {
			q.pick[filled] = uint8(i)
		}
		affected := 1 - math.Exp(-s.affected[i]*theta)
		depth := s.depth[i] * math.Min(math.Sqrt(theta), 3)
		// the k-th quantile of a geometric distribution, so that the table has its mean
		for k := range c.drops {
			u := (float64(k) + 0.5) / tableSize
			if u < affected {
				c.drops[k] = uint8(math.Min(1+math.Floor(-depth*math.Log(1-u/affected)), float64(s.top-noCall)))
			}
		}
	}
	return q
}

// mean returns the mean error of a base in reads of length bases.
func (q *qualities) mean(length int) float64 {
	var sum float64
	var counts [256]float64
	for _, k := range q.pick {
		counts[k]++
	}
	for k := range q.classes {
		worse := min(k+1, len(q.classes)-1)
		before, after := q.byBest(k), q.byBest(worse)
		var e float64
		// fallen[j] sums the errors of the first j bases after a decline
		fallen, first := 0.0, q.firstDecline(length)
		for i := range length {
			e += before[q.start[i]]
		}
		if q.decline != nil && length > first {
			var declined, head float64
			for i := range first {
				head += before[q.start[i]]
			}
			tails := make([]float64, length-first+1)
			for j := range length - first {
				fallen += after[q.decline[j]]
				tails[j+1] = fallen
			}
			for d := first; d < length; d++ {
				declined += head + tails[length-d]
				head += before[q.start[d]]
			}
			e += q.declineShare * (declined/float64(length-first) - e)
		}
		sum += counts[k] / 256 * e
	}
	return sum / float64(length)
}

// byBest returns the mean error of a base of class k for every best quality.
func (q *qualities) byBest(k int) (e [maxQuality + 1]float64) {
	var histogram [256]float64
	for _, d := range q.classes[k].drops {
		histogram[d]++
	}
	for best := range e {
		for d, n := range histogram {
			e[best] += n / tableSize * float64(q.errors[max(best-d, noCall)]) / (1 << 32)
		}
	}
	return e
}

// firstDecline is the earliest cycle at which a read's signal decays.
func (q *qualities) firstDecline(length int) int { return length * 3 / 10 }

// print fills qual with the qualities of one read, and makes the errors that they imply in seq,
// which is as long and has the true letters.
func (q *qualities) print(seq, qual []byte, r *random) {
	n := len(qual)
	u := r.next()
	k := q.pick[u&255]
	c := &q.classes[k]
	cut := n
	if q.decline != nil && u>>32 < uint64(q.declines) {
		if first := q.firstDecline(n); first < n {
			cut = first + int(r.below(uint64(n-first)))
		}
	}
	q.stretch(seq[:cut], qual[:cut], q.start, c, r)
	if cut < n {
		q.stretch(seq[cut:], qual[cut:], q.decline, &q.classes[min(int(k)+1, len(q.classes)-1)], r)
	}
}

func (q *qualities) stretch(seq, qual, best []uint8, c *class, r *random) {
	seq, best = seq[:len(qual)], best[:len(qual)]
	g := *r // in registers
	d := int(c.drops[g.next()>>54])
	for i := range qual {
		u := g.next()
		if uint32(uint16(u>>32)) >= c.stay {
			d = int(c.drops[u>>54])
		}
		v := min(max(int(best[i])-d, noCall), maxQuality)
		qual[i] = q.letter[v]
		if uint32(u) < q.errors[v] {
			seq[i] = substitute(seq[i], g.next())
		}
	}
	*r = g
}

// substitute returns one of the three other letters; an N stays one.
func substitute(b byte, u uint64) byte {
	switch b {
	case 'A':
		return "CGT"[(u>>32)*3>>32]
	case 'C':
		return "AGT"[(u>>32)*3>>32]
	case 'G':
		return "ACT"[(u>>32)*3>>32]
	case 'T':
		return "ACG"[(u>>32)*3>>32]
	}
	return b
}
