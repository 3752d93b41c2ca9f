package sim

import "math"

// Bases of a structural variant.
const (
	shortestVariant = 50
	longestVariant  = 5000
)

// withVariants returns a second haplotype: the genome with variants about so often in a million bases. They are deletions, insertions
// of new sequence, inversions and tandem duplications, of 50 to 5,000 bases each, short ones as often as ten times longer ones.
func (g *Genome) withVariants(perMillion float64, seed uint64) *Genome {
	r := stream(seed, streamVariants, 0)
	other := &Genome{}
	start := 0
	for i, end := range g.ends {
		var letters []byte
		for at := start; at < end; {
			gap := r.gap(perMillion / 1e6)
			if gap >= end-at {
				letters = append(letters, g.letters[at:end]...)
				break
			}
			letters = append(letters, g.letters[at:at+gap]...)
			at += gap
			n := int(shortestVariant * math.Pow(longestVariant/shortestVariant, r.unit()))
			kind := r.below(4)
			if kind == 1 {
				for range n {
					letters = append(letters, "ACGT"[r.next()&3])
				}
				continue
			}
			n = min(n, end-at)
			variant := g.letters[at : at+n]
			switch kind {
			case 2:
				letters = orient(letters, variant, true)
			case 3:
				letters = append(append(letters, variant...), variant...)
			}
			at += n
		}
		if len(letters) > 0 {
			other.Add(g.names[i], letters)
		}
		start = end
	}
	return other
}

// orient appends letters to dst, or their reverse complement.
func orient(dst, letters []byte, reverse bool) []byte {
	dst = append(dst, letters...)
	if reverse {
		reverseComplement(dst[len(dst)-len(letters):], letters)
	}
	return dst
}
