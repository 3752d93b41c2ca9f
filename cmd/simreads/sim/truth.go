package sim

import "math"

// ErrorKind is how a base of a read differs from the genome.
type ErrorKind uint8

// The kinds of errors.
const (
	Substitution ErrorKind = iota // a base of the genome was read as another one
	Insertion                     // a base was read before one of the genome
	Deletion                      // a base of the genome was not read
)

// Error is an error of one base.
type Error struct {
	At   int // place in the oriented stretch of the genome
	Kind ErrorKind
	Base byte // the letter that is in the read; unused for a deletion
}

// Stretch is where the bases [Start, End) of a read come from.
type Stretch struct {
	Start, End int
	Haplotype  int // 0, or 1 for the one with structural variants
	Place      int // first base, in the letters of all contigs of the haplotype one after another
	Length     int
	Reverse    bool    // the read has the reverse complement
	Errors     []Error // in the order of the read
}

// Truth is a read and where it comes from. Bases that are N in the read count as right.
type Truth struct {
	Bases, Qualities []byte // letters; Qualities are as printed, and there in FASTA as well
	Stretches        []Stretch
}

// Letters returns the letters of a haplotype, 0 or 1, contig after contig; nil if there is no such haplotype. They must not be changed.
func (s *Simulator) Letters(haplotype int) []byte {
	switch {
	case haplotype == 0:
		return s.c.Genome.letters
	case haplotype == 1 && s.library.other != nil:
		return s.library.other.genome.letters
	}
	return nil
}

// Each calls visit for all reads in order, with what is true of them, which is valid during the call. Reads must not be paired.
func (s *Simulator) Each(visit func(r *Truth)) {
	var text []byte
	for i := range s.Chunks() {
		text, _ = s.chunk(i, text[:0], nil, false, visit)
	}
}

// Cost is what the reads of a draw cost in bits, by the entropies of what was drawn, without their qualities and names. What the
// genome costs is not in it.
type Cost struct {
	Places  float64 // stretches: a position of all haplotypes and a strand each
	Lengths float64 // of reads, and of the first stretch of those of two
	Errors  float64
	Ns      float64 // which bases are N
	// Of the reads:
	Bases, Substitutions, Insertions, Deletions float64
}

// Total returns the sum in bits.
func (c Cost) Total() float64 { return c.Places + c.Lengths + c.Errors + c.Ns }

// Cost draws all reads and returns what they cost. Errors cost the entropies of: by how many bases a run of equal bases of the
// genome is too long or too short, given its length; for each base, whether it was substituted, by which of three bases with equal
// chances, and whether one that is not of its run was inserted before it, which may be any base.
func (s *Simulator) Cost() (c Cost) {
	const change = 15 // the largest change of the length of a run that is counted as such
	var runs [longestRun + 1][2*change + 1]float64
	letters := 0.0
	for _, h := range []int{0, 1} {
		letters += float64(len(s.Letters(h)))
	}
	var oriented []byte
	others, ns := 0.0, 0.0 // insertions of another base than the run's
	reads := 0.0
	s.Each(func(r *Truth) {
		reads++
		c.Bases += float64(len(r.Bases))
		for _, b := range r.Bases {
			if b == 'N' {
				ns++
			}
		}
		for i, p := range r.Stretches {
			c.Places += math.Log2(2 * letters)
			if i > 0 {
				c.Lengths += math.Log2(float64(len(r.Bases)))
			}
			oriented = orient(oriented[:0], s.Letters(p.Haplotype)[p.Place:p.Place+p.Length], p.Reverse)
			errors := p.Errors
			for at := 0; at < len(oriented); {
				n, class := runAt(oriented, at)
				d := 0
				for ; len(errors) > 0 && errors[0].At < at+n; errors = errors[1:] {
					switch e := errors[0]; {
					case e.Kind == Substitution:
						c.Substitutions++
					case e.Kind == Deletion:
						c.Deletions++
						d--
					default:
						c.Insertions++
						if e.Base == oriented[at] {
							d++
						} else {
							others++
						}
					}
				}
				runs[class][min(max(d, -change), change)+change]++
				at += n
			}
		}
	})
	for _, counts := range runs {
		c.Errors += entropy(counts[:]...)
	}
	c.Errors += entropy(c.Substitutions, c.Bases-c.Substitutions) + c.Substitutions*math.Log2(3)
	c.Errors += entropy(others, c.Bases-others) + others*2
	c.Ns = entropy(ns, c.Bases-ns)
	c.Lengths += s.library.lengths.entropy() * reads
	return c
}

// entropy returns the bits of symbols that occur as often as counts says, each at its empirical entropy.
func entropy(counts ...float64) (bits float64) {
	sum := 0.0
	for _, n := range counts {
		sum += n
	}
	for _, n := range counts {
		if n > 0 {
			bits += n * math.Log2(sum/n)
		}
	}
	return bits
}

// entropy returns the bits of a length that is drawn.
func (l *lengths) entropy() float64 {
	if l.least == l.most || l.sigma == 0 {
		return 0
	}
	bits := 0.5 * math.Log2(2*math.Pi*math.E*l.sigma*l.sigma) // of the normal distribution, drawn to a whole base
	if l.logarithmic {
		bits += math.Log2(l.median)
	}
	return math.Max(bits, 0)
}
