package sim

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
