package compress

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/packing"
	"orcomgo/compress/slicing"
	"orcomgo/internal/testrun"
)

// TestRandomRuns brings small random runs through both stages, with random options. The
// subtests are named for their seeds: -run 'RandomRuns/.*/^17$' repeats one.
func TestRandomRuns(t *testing.T) {
	testrun.NoRace(t)
	runs := testrun.Pick(20, 30, 1000)
	sizes := []struct {
		name        string
		text, reads uint64
	}{{"whole", slicing.Usual.Text, slicing.Usual.Reads}, {"small", 20_000, 150}, {"tiny", 4_000, 20}}
	for k, size := range sizes {
		t.Run(size.name, func(t *testing.T) {
			setLimits(t, func(l *packing.Limits) { l.Text, l.Reads = size.text, size.reads })
			for seed := k; seed < runs; seed += len(sizes) {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					t.Parallel() // much of the time of a small run goes into syncing files
					drawRun(int64(seed)).check(t, seed/len(sizes)%10 == 0)
				})
			}
		})
	}
}

// randomRun is a run of reads made up, and what is done with it.
type randomRun struct {
	rng    *rand.Rand
	genome []byte // circular, so that reads may be longer

	traits  traits
	options record.Options
	pack    PackOptions
	fasta   bool
	paired  bool
	further int  // with paired: how many inputs of further mates
	inTurn  bool // both mates are in one file
}

// traits are what the reads of a run are like.
type traits struct {
	reads, length    int     // the length is the greatest
	coverage, errors float64 // errors a base
	lengths          int     // 0 all alike, 1 trimmed, 2 any
	rarity           int     // one read in so many is odd in a given way
	alphabet         string  // of the genome
	levels           string  // of the qualities
	names            string

	duplicates, palindromes, tandems, allN, gaps bool
	letters                                      bool // lower case and IUPAC
	poor                                         bool // reads of one or two bases
	strands                                      bool // both
}

// oneIn is true once in n times.
func (r *randomRun) oneIn(n int) bool { return r.rng.Intn(n) == 0 }

// logUniform is of any magnitude between lo and hi.
func (r *randomRun) logUniform(lo, hi float64) float64 {
	return lo * math.Pow(hi/lo, r.rng.Float64())
}

func pick[T any](r *randomRun, choices ...T) T { return choices[r.rng.Intn(len(choices))] }

// drawRun draws everything but the reads.
func drawRun(seed int64) *randomRun {
	r := &randomRun{rng: rand.New(rand.NewSource(seed))}
	anyLevel := make([]byte, 0, 94)
	for q := byte('!'); q <= '~'; q++ {
		anyLevel = append(anyLevel, q)
	}
	r.traits = traits{
		length:   1 + r.rng.Intn(pick(r, 40, 400, 400)),
		coverage: r.logUniform(0.01, 500),
		errors:   pick(r, 0, 0.05*r.rng.Float64()),
		lengths:  r.rng.Intn(3),
		rarity:   int(r.logUniform(12, 300)),
		alphabet: pick(r, "ACGT", "ACGT", "ACGT", "ACGT", "ACGT", "ACGT", "AC", "AT", "A"),
		levels:   pick(r, "I", "FFFFFFF:,#", string(anyLevel)),
		names:    pick(r, "r.%d/%d", "M01:7:FC:1:1101:%d:1000 %d:N:0:1"),
		poor:     r.oneIn(3), duplicates: r.oneIn(3), palindromes: r.oneIn(3), tandems: r.oneIn(3),
		allN: r.oneIn(3), gaps: r.oneIn(3), letters: r.oneIn(3), strands: !r.oneIn(3),
	}
	r.options = record.Options{OrderAny: r.oneIn(2), ReadsOnly: r.oneIn(4)}
	if !r.options.ReadsOnly {
		r.options.DropNames = r.oneIn(3)
		r.options.Quality = pick(r, record.QualityKeep, record.QualityKeep, record.QualityBin8, record.QualityDrop)
	}
	r.pack = PackOptions{Threads: 1 + r.rng.Intn(3), TwoBit: r.rng.Intn(2) == 0}
	r.paired, r.fasta = r.oneIn(3), r.oneIn(6)

	if r.paired {
		r.further = int(seed) % 3
	}
	r.inTurn = !r.paired && seed%2 == 0

	// The text takes 150 kB at most, and the genome less than would be slow to make.
	tr := &r.traits
	tr.reads = int(r.logUniform(2_000, 150_000)) / (2*tr.length + 30)
	tr.reads = max(1, min(tr.reads, int(tr.coverage*300_000)/tr.length))
	switch r.rng.Intn(40) {
	case 0:
		tr.reads = 0
	case 1, 2:
		tr.reads = 1
	}
	if r.paired {
		tr.reads = (tr.reads + 1) / 2
	}
	r.genome = r.drawGenome(1 + int(float64(tr.reads*tr.length)/tr.coverage))

	// Memory for a share of the reads makes parts, if there are as many blocks.
	text := tr.reads * (2*tr.length + 30)
	r.options.BlockSize = uint64(max(300, text/pick(r, 1, 1, 4, 20)))
	if r.oneIn(3) {
		r.pack.Memory = uint64(max(1_000, 3*text/pick(r, 2, 5, 20)))
	}
	return r
}

// bases draws n letters of an alphabet.
func (r *randomRun) bases(n int, alphabet string) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.rng.Intn(len(alphabet))]
	}
	return b
}

// drawGenome has stretches that repeat and palindromes, if the run has such.
func (r *randomRun) drawGenome(n int) []byte {
	g := r.bases(n, r.traits.alphabet)
	for range 1 + n/300 {
		at := r.rng.Intn(n)
		stretch := g[at:min(n, at+1+r.rng.Intn(300))]
		if r.traits.tandems && r.oneIn(2) {
			repeat(stretch, 1+r.rng.Intn(30))
		}
		if r.traits.palindromes && r.oneIn(2) {
			fold(stretch)
		}
	}
	return g
}

// repeat makes s a tandem repeat of its first bases.
func repeat(s []byte, unit int) {
	for i := unit; i < len(s); i++ {
		s[i] = s[i-unit]
	}
}

// fold makes s its own reverse complement; but for the base in the middle, if there is one.
func fold(s []byte) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[j] = complement(s[i])
	}
}

func complement(b byte) byte { return "TGCA"[strings.IndexByte("ACGT", b)] }

func reverseComplement(s []byte) []byte {
	out := make([]byte, len(s))
	for i, b := range s {
		out[len(s)-1-i] = complement(b)
	}
	return out
}

// fragment draws two mates, which face each other.
func (r *randomRun) fragment() (mates [2][]byte) {
	tr := &r.traits
	var lengths [2]int
	for m := range lengths {
		lengths[m] = tr.length
		if tr.lengths == 2 || tr.lengths == 1 && r.oneIn(3) {
			lengths[m] = r.rng.Intn(tr.length + 1)
		}
	}
	f := make([]byte, tr.length+r.rng.Intn(200))
	at := r.rng.Intn(len(r.genome))
	for i := range f {
		f[i] = r.genome[(at+i)%len(r.genome)]
	}
	back := reverseComplement(f)
	if tr.strands && r.oneIn(2) {
		f, back = back, f
	}
	mates = [2][]byte{f[:lengths[0]], back[:lengths[1]]}
	for m, s := range mates {
		mates[m] = r.spoil(bytes.Clone(s))
	}
	return mates
}

// spoil makes a read odd, in the ways of the run.
func (r *randomRun) spoil(s []byte) []byte {
	tr := &r.traits
	if len(s) == 0 {
		return s
	}
	for i := range s {
		if r.rng.Float64() < tr.errors {
			s[i] = pick[byte](r, 'A', 'C', 'G', 'T', 'N')
		}
	}
	switch k := r.rng.Intn(tr.rarity); {
	case k == 0 && tr.palindromes:
		copy(s, r.bases(len(s), "ACGT"))
		fold(s)
	case k == 1 && tr.tandems:
		repeat(s, 1+r.rng.Intn(30))
	case k == 2 && tr.allN:
		s[0] = 'N'
		repeat(s, 1)
	case k == 3 && tr.poor:
		repeat(s, 1)
	case k == 4 && tr.poor:
		copy(s, r.bases(len(s), "GT"))
	case k < 8 && tr.gaps:
		at := r.rng.Intn(len(s))
		for i := range s[at:min(len(s), at+1+r.rng.Intn(30))] {
			s[at+i] = 'N'
		}
	}
	if tr.letters {
		for i := range s {
			if r.oneIn(150) {
				s[i] = "acgtnRYKMSWBDHVU"[r.rng.Intn(16)]
			}
		}
	}
	return s
}

// texts draws the reads and returns them as FASTQ: those of first, second and further mates.
func (r *randomRun) texts() [4]string {
	tr := &r.traits
	var all [][2][]byte
	var out [2]strings.Builder
	for i := range tr.reads {
		mates := r.fragment()
		if tr.duplicates && i > 0 && r.oneIn(4) {
			mates = all[r.rng.Intn(i)]
		}
		all = append(all, mates)
		for m, s := range mates {
			fmt.Fprintf(&out[m], "@"+tr.names+"\n%s\n+\n%s\n", i+i/7, m+1, s, r.bases(len(s), tr.levels))
		}
	}
	texts := [4]string{out[0].String(), out[1].String()}
	for m := 2; m < 2+r.further; m++ {
		var further strings.Builder
		for i := range tr.reads {
			s := r.bases(6+m, "ACGT")
			fmt.Fprintf(&further, "@"+tr.names+"\n%s\n+\n%s\n", i+i/7, m+1, s, r.bases(len(s), tr.levels))
		}
		texts[m] = further.String()
	}
	return texts
}

// check brings the run through both stages; twice says to pack it a second time.
func (r *randomRun) check(t *testing.T, twice bool) {
	t.Logf("%+v, %+v, threads %d, memory %d, FASTA %v, pair %v, a genome of %d bases",
		r.traits, r.options, r.pack.Threads, r.pack.Memory, r.fasta, r.paired, len(r.genome))
	fastq := r.texts()
	ins := pair(fastq[0], fastq[1])
	for m := 2; m < 2+r.further; m++ {
		ins = append(ins, input{fmt.Sprintf("r_%d.fastq", m+1), fastq[m], furtherOf(0), false})
	}
	if r.inTurn {
		fastq[0] = interleavedText(fastq[0], fastq[1])
	}
	if !r.paired {
		ins = single(ins[0].name, fastq[0])
	}
	o := r.options
	if r.fasta {
		o.Quality = record.QualityDrop // as FASTA comes back
		for i := range ins {
			ins[i].text = strings.Join(expected(ins[i].text, record.Options{Quality: record.QualityDrop}), "")
		}
	}

	dir := binTo(t, ins, r.options)
	if twice {
		r.pack.KeepBins, r.pack.Force, r.pack.Threads = true, true, 1
		packTo(t, dir, r.pack)
		first := filesIn(t, dir)
		r.pack.Threads = 3
		packTo(t, dir, r.pack)
		sameFiles(t, filesIn(t, dir), first)
	} else {
		packTo(t, dir, r.pack)
	}
	var got, want [4][]string
	back := unpackAll(t, dir, UnpackOptions{Threads: r.pack.Threads, Memory: r.pack.Memory})
	if len(back) != len(ins) {
		t.Fatalf("%d files", len(back))
	}
	for name, text := range back {
		m := int(name[2] - '1') // r_1.fastq is the first one
		got[m] = records(text, o)
	}
	for m := range ins {
		want[m] = expected(fastq[m], o)
		if len(got[m]) != len(want[m]) {
			t.Fatalf("%d records of %s, want %d", len(got[m]), ins[m].name, len(want[m]))
		}
	}
	if o.OrderAny {
		for m := range ins {
			if o.DropNames {
				got[m], want[m] = unnumbered(t, got[m]), unnumbered(t, want[m])
			}
		}
		if r.paired {
			for m := 1; m < len(ins); m++ {
				got[0], want[0] = joinMates(got[0], got[m]), joinMates(want[0], want[m])
				got[m], want[m] = nil, nil
			}
		}
		slices.Sort(got[0])
		slices.Sort(want[0])
	}
	for m := range ins {
		for i, w := range want[m] {
			if got[m][i] != w {
				t.Fatalf("%s: record %d comes back as %q, want %q", ins[m].name, i+1, got[m][i], w)
			}
		}
	}
}
