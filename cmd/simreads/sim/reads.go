package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Config says what to simulate. The zero value of a field means the default that its comment has.
type Config struct {
	Genome *Genome
	Reads  uint64 // reads, or pairs
	Length int    // bases of a read; 0: 100. For long reads, the median; 0: 9,000
	Seed   uint64

	Paired     bool // mates face each other (FR)
	Long       bool // log-normal lengths
	Quality    Profile
	MeanError  float64 // mean probability of a substitution; 0: the profile's own
	Indels     float64 // inserted and deleted bases, per base of a long read; 0: none
	NRate      float64 // share of bases that are N, quality '#'
	Trim       float64 // share of reads cut to a length from 35 to Length
	Names      NameStyle
	CRLF       bool
	FASTA      bool    // no qualities; errors all the same
	Optical    float64 // share of fragments that are copies of the one before
	PCR        float64 // share of fragments that are copies of any before
	Expression float64 // log-normal sigma of the expression of transcripts, amplicons or small RNA; 0: all alike
	Amplicons  int     // if not 0: all fragments are one of so many stretches of 200 to 400 bases
	SmallRNA   int     // if not 0: all fragments are one of so many stretches of 18 to 30 bases, of one strand each
	Adapter    bool    // reads go on into an adapter, and then in As, where their fragment ends
	Strands    bool    // HiFi reads have the kinetics of both strands in BAM: fi, fp, ri and rp instead of ip and pw
	Bisulfite  float64 // share of the Cs that are read as T: for reads of both strands, in their direction
}

const (
	longSigma  = 0.6     // sigma of the logarithm of the lengths of long reads
	longLimit  = 100_000 // no read is longer
	minLength  = 35      // of reads that are cut
	insertMean = 350     // bases of a fragment
	insertSD   = 50
)

// Simulator makes the reads of a Config, by chunks. Its methods may be called concurrently.
type Simulator struct {
	c         Config
	library   library
	qualities *qualities
	indels    *indels // nil: none
	namer     *namer
	perChunk  uint64
}

// chunkBases is about how many bases a chunk has. The output depends on it, because the reads of
// a chunk share a random stream.
const chunkBases = 1 << 20

// New checks a Config. The errors are for users: they say which value is impossible.
func New(c Config) (*Simulator, error) {
	c.Length = cmp.Or(c.Length, c.defaultLength())
	for _, share := range []struct {
		name  string
		value float64
	}{
		{"mean error", c.MeanError}, {"N rate", c.NRate}, {"share of trimmed reads", c.Trim},
		{"share of optical duplicates", c.Optical}, {"share of PCR duplicates", c.PCR}, {"share of converted Cs", c.Bisulfite},
		{"share of inserted and deleted bases", c.Indels},
	} {
		if share.value < 0 || share.value > 1 || math.IsNaN(share.value) {
			return nil, fmt.Errorf("%s %g is not between 0 and 1", share.name, share.value)
		}
	}
	switch {
	case max(c.Optical, c.PCR) > 0.95:
		return nil, fmt.Errorf("a share of duplicates of %g leaves too few reads to copy", max(c.Optical, c.PCR))
	case c.Amplicons < 0 || c.SmallRNA < 0 || c.Amplicons > 0 && c.SmallRNA > 0:
		return nil, errors.New("reads are of amplicons or of small RNA")
	case c.Long && (c.Amplicons > 0 || c.SmallRNA > 0 || c.Adapter):
		return nil, errors.New("long reads are of no amplicons, small RNA or adapters")
	case c.Genome == nil || c.Genome.Size() == 0:
		return nil, errors.New("no genome to draw from")
	case c.Length < 1:
		return nil, fmt.Errorf("reads of %d bases are impossible", c.Length)
	case c.Long && c.Paired:
		return nil, errors.New("long reads have no mates")
	case c.Quality < Levels41 || c.Quality > Nanopore:
		return nil, fmt.Errorf("no quality profile %d", c.Quality)
	case c.Expression < 0:
		return nil, errors.New("a standard deviation can't be negative")
	case c.Indels > 0 && !c.Long:
		return nil, errors.New("only long reads have insertions and deletions")
	case c.Indels > 0 && c.Quality != HiFi && c.Quality != Nanopore:
		return nil, errors.New("only the profiles of long reads have insertions and deletions")
	case c.Indels > 0.1:
		return nil, fmt.Errorf("a share of inserted and deleted bases of %g is more than 0.1", c.Indels)
	}
	longest := c.Length
	if c.Long {
		longest = longLimit
	}
	room := c.Genome.longest()
	if room < c.Length && c.SmallRNA == 0 {
		return nil, fmt.Errorf("no contig is as long as a read (%d bases)", c.Length)
	}

	s := &Simulator{c: c, namer: newNamer(c.Names, c.Seed, c.FASTA)}
	s.perChunk = uint64(min(max(chunkBases/c.Length, 1), 8192))
	var err error
	if s.qualities, err = newQualities(c.Quality, longest, c.MeanError); err != nil {
		return nil, err
	}
	s.library = library{genome: c.Genome, seed: c.Seed, optical: chanceOf(c.Optical), pcr: chanceOf(c.PCR)}
	switch {
	case c.Long:
		s.library.lengths = lengths{median: float64(c.Length), sigma: longSigma, logarithmic: true,
			least: min(minLength, c.Length), most: min(longest, room)}
	case c.Paired:
		s.library.lengths = lengths{median: insertMean, sigma: insertSD, least: c.Length, most: room}
	default:
		s.library.lengths = lengths{least: c.Length, most: c.Length}
	}
	switch {
	case c.Amplicons > 0:
		s.library.targets, err = newStretches(c.Genome, c.Seed, c.Amplicons, 200, 400, c.Expression, false)
	case c.SmallRNA > 0:
		s.library.targets, err = newStretches(c.Genome, c.Seed, c.SmallRNA, 18, 30, c.Expression, true)
	case c.Expression > 0:
		s.library.targets, err = newTranscripts(c.Genome, c.Seed, max(300, c.Length), c.Expression)
	}
	if err != nil {
		return nil, err
	}
	if c.Indels > 0 {
		s.indels = newIndels(c.Indels, s.qualities, c.Genome)
	}
	return s, nil
}

// Chunks returns the number of chunks.
func (s *Simulator) Chunks() int { return int((s.c.Reads + s.perChunk - 1) / s.perChunk) }

// chunk appends chunk i, of the first mates or unpaired reads to r1 and of the second mates to r2, and returns both; interleaved mates are
// in r1. It calls visit, if that is not nil, for each read.
func (s *Simulator) chunk(i int, r1, r2 []byte, interleaved bool, visit func(*Truth)) (first, second []byte) {
	from := uint64(i) * s.perChunk
	to := min(from+s.perChunk, s.c.Reads)
	r := stream(s.c.Seed, streamChunk, uint64(i))
	m := maker{s: s, random: r, toN: r.gap(s.c.NRate), visit: visit}
	for j := from; j < to; j++ {
		f := s.library.fragment(j)
		names := stream(s.c.Seed, streamChunk, 1<<62+j)
		again := names
		r1 = m.read(r1, f, j, 1, &names)
		if !s.c.Paired {
			continue
		}
		f.reverse = !f.reverse
		if interleaved {
			r1 = m.read(r1, f, j, 2, &again)
		} else {
			r2 = m.read(r2, f, j, 2, &again)
		}
	}
	return r1, r2
}

// All returns the whole simulation; the second file is empty unless reads are paired.
func (s *Simulator) All() (r1, r2 []byte) {
	for i := range s.Chunks() {
		r1, r2 = s.chunk(i, r1, r2, false, nil)
	}
	return r1, r2
}

// maker writes the records of one chunk.
type maker struct {
	s        *Simulator
	random   random
	toN      int // bases to the next N
	qual     []byte
	template []byte       // oriented letters of a read
	letters  []byte       // of a read with insertions and deletions
	visit    func(*Truth) // nil: not called
}

// read appends the record of read i, which starts at the 5' end of the fragment.
func (m *maker) read(b []byte, f fragment, i uint64, mate int, names *random) []byte {
	c := &m.s.c
	n := min(c.Length, f.length)
	if c.Long {
		n = f.length
	}
	if c.Trim > 0 && m.random.unit() <= c.Trim && n > minLength {
		n = minLength + int(m.random.below(uint64(n-minLength)))
	}
	f = f.head(n)
	m.template = orient(m.template[:0], c.Genome.letters[f.start:f.start+f.length], f.reverse)
	m.convert()
	if c.Adapter {
		m.template = append(m.template, adapter...)
		for len(m.template) < c.Length {
			m.template = append(m.template, 'A')
		}
		m.template = m.template[:max(n, c.Length)]
	}
	var truth *Truth
	var errors *[]Error
	if m.visit != nil {
		truth = &Truth{Place: f.start, Length: f.length, Reverse: f.reverse}
		errors = &truth.Errors
	}
	seq := m.template
	if m.s.indels != nil {
		m.letters, m.qual = m.s.indels.print(m.s.qualities, m.template, m.letters[:0], m.qual[:0], errors, &m.random)
		seq = m.letters
	}
	n = len(seq)
	line := len(b)
	b = m.s.namer.append(b, i, mate, n, names)
	name := b[line+1:]
	b = m.end(b)

	at := len(b)
	b = append(slices.Grow(b, 2*n+len(name)+8), seq...)
	seq = b[at:]
	var qual []byte
	if c.FASTA {
		m.qual = slices.Grow(m.qual[:0], n)[:n]
		qual = m.qual
		b = m.end(b)
	} else {
		b = append(m.end(b), '+')
		if c.Names == SRA {
			b = append(b, name...)
		}
		b = m.end(b)
		at = len(b)
		b = b[:at+n] // there is room: grown above
		qual = b[at:]
		if m.s.indels != nil {
			copy(qual, m.qual)
		}
		b = m.end(b)
	}
	m.finish(seq, qual)
	if truth != nil {
		truth.complete(m, seq, qual)
		m.visit(truth)
	}
	return b
}

// adapter is what is read after the end of a short fragment: Illumina's of small RNA.
const adapter = "TGGAATTCTCGGGTGCCAAGG"

// convert makes Ts of the Cs of the template, as bisulfite does with those that are not methylated.
func (m *maker) convert() {
	if m.s.c.Bisulfite == 0 {
		return
	}
	converted := chanceOf(m.s.c.Bisulfite)
	for i, b := range m.template {
		if b == 'C' && m.random.hit(converted) {
			m.template[i] = 'T'
		}
	}
}

// head returns the first n bases of a fragment.
func (f fragment) head(n int) fragment {
	if f.reverse {
		f.start += f.length - n
	}
	f.length = n
	return f
}

// complete adds the bases and the qualities of a read and, if it has neither insertions nor deletions, its errors.
func (t *Truth) complete(m *maker, seq, qual []byte) {
	t.Bases, t.Qualities = seq, qual
	if m.s.indels != nil {
		return
	}
	for j, b := range seq {
		if b != m.template[j] && b != 'N' {
			t.Errors = append(t.Errors, Error{j, Substitution, b})
		}
	}
}

// finish makes the qualities of a read and its errors, unless they were made with insertions and deletions, and its Ns.
func (m *maker) finish(seq, qual []byte) {
	if m.s.indels == nil {
		m.s.qualities.print(seq, qual, &m.random)
	}
	for m.toN < len(seq) {
		seq[m.toN], qual[m.toN] = 'N', '!'+noCall
		if g := m.random.gap(m.s.c.NRate); g < math.MaxInt-m.toN-1 {
			m.toN += 1 + g
		} else {
			m.toN = math.MaxInt
		}
	}
	if m.toN != math.MaxInt {
		m.toN -= len(seq)
	}
}

func (m *maker) end(b []byte) []byte {
	if m.s.c.CRLF {
		b = append(b, '\r')
	}
	return append(b, '\n')
}

// orient appends letters to dst, or their reverse complement.
func orient(dst, letters []byte, reverse bool) []byte {
	dst = append(dst, letters...)
	if reverse {
		reverseComplement(dst[len(dst)-len(letters):], letters)
	}
	return dst
}

func reverseComplement(dst, src []byte) {
	src = src[:len(dst)]
	for i, j := 0, len(src)-1; j >= 0; i, j = i+1, j-1 {
		dst[i] = complement[src[j]]
	}
}

// defaultLength is Length if that is 0.
func (c *Config) defaultLength() int {
	if c.Long {
		return 9000
	}
	return 100
}

// ReadsFor returns how many reads, or pairs, cover the genome so many times.
func (c *Config) ReadsFor(coverage float64) uint64 {
	length := float64(cmp.Or(c.Length, c.defaultLength()))
	if c.Long {
		length *= math.Exp(longSigma * longSigma / 2) // median to mean
	}
	if c.Paired {
		length *= 2
	}
	return uint64(math.Ceil(coverage * float64(c.Genome.Size()) / length))
}
