package sim

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"sort"
)

// Genome is a set of contigs that reads are drawn from. Letters are upper case; what is
// not A, C, G or T is N.
type Genome struct {
	names   []string
	letters []byte
	ends    []int // ends[i] is where contig i ends in letters
}

// Size returns the number of bases.
func (g *Genome) Size() int { return len(g.letters) }

// contig returns the bounds of the contig that holds position pos.
func (g *Genome) contig(pos int) (start, end int) {
	if len(g.ends) == 1 {
		return 0, g.ends[0]
	}
	i := sort.SearchInts(g.ends, pos+1)
	if i > 0 {
		start = g.ends[i-1]
	}
	return start, g.ends[i]
}

// longest returns the length of the longest contig.
func (g *Genome) longest() int {
	longest, start := 0, 0
	for _, end := range g.ends {
		longest = max(longest, end-start)
		start = end
	}
	return longest
}

// Add appends a contig. Lower case becomes upper case, U becomes T, and what is none of A, C, G and T becomes N.
func (g *Genome) Add(name string, letters []byte) {
	g.names = append(g.names, name)
	start := len(g.letters)
	g.letters = append(g.letters, letters...)
	for i, c := range g.letters[start:] {
		g.letters[start+i] = upper[c]
	}
	g.ends = append(g.ends, len(g.letters))
}

// upper maps a letter to that of a Genome; complement maps those to their complements.
var upper, complement = func() (u, c [256]byte) {
	for i := range u {
		u[i], c[i] = 'N', 'N'
	}
	for i, b := range []byte("ACGT") {
		u[b], u[b|0x20] = b, b
		c[b] = "TGCA"[i]
	}
	u['U'], u['u'] = 'T', 'T'
	return u, c
}()

// meanGC is the share of G and C in an invented genome.
const meanGC = 0.41

// GenomeConfig describes an invented genome.
type GenomeConfig struct {
	Size    int     // bases over all contigs
	Contigs int     // 0: one
	Repeats float64 // fraction of the genome that is copies of repeat families, 0..0.9
	Seed    uint64
}

// Invent makes a genome up. Its GC content drifts along it as in isochores; repeats are
// copies, a tenth diverged at most, of families of 300 to 6,000 bases, on both strands.
func Invent(c GenomeConfig) *Genome {
	c.Contigs = max(c.Contigs, 1)
	r := stream(c.Seed, streamGenome, 0)
	letters := make([]byte, c.Size)
	gc, until := chanceOf(meanGC), 0
	for i := range letters {
		if i == until {
			gc = chanceOf(meanGC * (1 + 0.2*math.Tanh(r.normal())))
			until += 2000 + int(r.below(20000))
		}
		u := r.next()
		b := "AT"[u&1]
		if u>>32 < uint64(gc) {
			b = "GC"[u&1]
		}
		letters[i] = b
	}
	plantRepeats(letters, c.Repeats, &r)

	g := &Genome{}
	for i := range c.Contigs {
		lo, hi := len(letters)*i/c.Contigs, len(letters)*(i+1)/c.Contigs
		if lo < hi {
			g.Add(fmt.Sprintf("chr%d", i+1), letters[lo:hi])
		}
	}
	return g
}

// plantRepeats overwrites a fraction of the letters with diverged copies of families.
func plantRepeats(letters []byte, fraction float64, r *random) {
	budget := int(fraction * float64(len(letters)))
	for budget > 0 {
		n := min(300+int(r.below(5700)), len(letters)/4)
		if n == 0 {
			return
		}
		from := int(r.below(uint64(len(letters) - n + 1)))
		family := append([]byte(nil), letters[from:from+n]...)
		for copies := 1 + int(r.below(30)); copies > 0 && budget > 0; copies-- {
			at := int(r.below(uint64(len(letters) - n + 1)))
			divergence := chanceOf(0.1 * r.unit())
			backward := r.next()&1 == 1
			for i := range n {
				b := family[i]
				if backward {
					b = complement[family[n-1-i]]
				}
				if r.hit(divergence) {
					b = "ACGT"[r.next()&3]
				}
				letters[at+i] = b
			}
			budget -= n
		}
	}
}

// WriteFASTA writes the genome with lines of 60 bases.
func (g *Genome) WriteFASTA(w io.Writer) error {
	bw := bufio.NewWriter(w)
	start := 0
	for i, end := range g.ends {
		fmt.Fprintf(bw, ">%s\n", g.names[i])
		for start < end {
			n := min(60, end-start)
			bw.Write(g.letters[start : start+n])
			bw.WriteByte('\n')
			start += n
		}
	}
	return bw.Flush()
}
