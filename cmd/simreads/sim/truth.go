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
	At   int // place in the oriented bases of the genome
	Kind ErrorKind
	Base byte // the letter that is in the read; unused for a deletion
}

// Truth is a read and where it comes from. Bases that are N in the read count as right.
type Truth struct {
	Bases, Qualities []byte // letters; Qualities are as printed, and there in FASTA as well
	Place            int    // first base, in the letters of all contigs one after another
	Length           int
	Reverse          bool    // the read has the reverse complement
	Errors           []Error // in the order of the read
}

// Letters returns the letters of the genome, contig after contig. They must not be changed.
func (g *Genome) Letters() []byte { return g.letters }

// Each calls visit for all reads in order, with what is true of them, which is valid during the call. Reads must not be paired.
func (s *Simulator) Each(visit func(r *Truth)) {
	var text []byte
	for i := range s.Chunks() {
		text, _ = s.chunk(i, text[:0], nil, false, visit)
	}
}
