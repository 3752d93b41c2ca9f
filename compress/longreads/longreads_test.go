package longreads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"orcomgo/bases"
	"orcomgo/compress/edits"
)

// drawBases returns n random bases, one a byte.
func drawBases(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(4))
	}
	return b
}

func reversed(b []byte) []byte {
	out := make([]byte, len(b))
	for i, v := range b {
		out[len(b)-1-i] = 3 - v
	}
	return out
}

// mutated returns b with substitutions, insertions and deletions at this rate.
func mutated(r *rand.Rand, b []byte, rate float64) []byte {
	var out []byte
	for _, v := range b {
		if r.Float64() >= rate {
			out = append(out, v)
			continue
		}
		switch r.IntN(3) {
		case 0:
			out = append(out, (v+1+byte(r.IntN(3)))&3)
		case 1:
			out = append(out, v, byte(r.IntN(4)))
		}
	}
	return out
}

func packed(b []byte) Read {
	r := Read{Bases: make(bases.Words, bases.WordsLen(len(b))), N: len(b)}
	for i, v := range b {
		r.Bases.Set(i, v)
	}
	return r
}

func unpacked(b bases.Words, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = b.At(i)
	}
	return out
}

// coverage draws reads of both strands that cover a genome.
func coverage(r *rand.Rand, genome []byte, depth, length int, rate float64) [][]byte {
	var reads [][]byte
	for range depth * len(genome) / length {
		n := min(length/2+r.IntN(length), len(genome))
		at := r.IntN(len(genome) - n + 1)
		b := mutated(r, genome[at:at+n], rate)
		if r.IntN(2) == 0 {
			b = reversed(b)
		}
		reads = append(reads, b)
	}
	return reads
}

// build builds the shared sequence of reads, which come in batches of so many.
func build(t testing.TB, reads [][]byte, each int, c Config) *Sequence {
	t.Helper()
	s, err := Build(context.Background(), func(f func([]Read) error) error {
		for some := range slices.Chunk(reads, each) {
			var batch []Read
			for _, b := range some {
				batch = append(batch, packed(b))
			}
			if err := f(batch); err != nil {
				return err
			}
		}
		return nil
	}, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// applied returns the bases of a piece.
func applied(s *Sequence, p *edits.Piece) []byte {
	ref := unpacked(s.bases, s.n)[p.Place : p.Place+uint64(p.Length)]
	if p.Reverse {
		ref = reversed(ref)
	}
	var out []byte
	at := 0
	for _, e := range p.Edits {
		out = append(out, ref[at:e.At]...)
		at = int(e.At)
		if e.Kind != edits.Deletion {
			out = append(out, e.Base)
		}
		if e.Kind != edits.Insertion {
			at++
		}
	}
	return append(out, ref[at:]...)
}

// tally aligns reads, checks that their pieces give their bases, and counts.
func tally(t testing.TB, s *Sequence, reads [][]byte) (pieces, count, literal int) {
	t.Helper()
	a := NewAligner(s)
	for i, b := range reads {
		r := packed(b)
		at := 0
		for _, p := range a.Align(r.Bases, r.N) {
			if int(p.Start) < at || int(p.End) > len(b) || p.Start >= p.End {
				t.Fatalf("read %d: a piece has bases %d to %d of %d, after %d", i, p.Start, p.End, len(b), at)
			}
			if got := applied(s, &p); !slices.Equal(got, b[p.Start:p.End]) {
				t.Fatalf("read %d: the piece of bases %d to %d gives other bases", i, p.Start, p.End)
			}
			literal += int(p.Start) - at
			at = int(p.End)
			pieces, count = pieces+1, count+len(p.Edits)
		}
		literal += len(b) - at
	}
	return pieces, count, literal
}

// TestGenome: reads of both strands give back the genome, without their errors, and lie on it in one piece each.
func TestGenome(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	genome := drawBases(r, 200_000)
	for _, rate := range []float64{0, .005, .03} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			reads := coverage(r, genome, 20, 8000, rate)
			s := build(t, reads, 100, Config{Threads: 2})
			if s.Len() < 195_000 || s.Len() > 225_000 {
				t.Errorf("the shared sequence has %d bases", s.Len())
			}
			pieces, n, literal := tally(t, s, reads)
			bases := 0
			for _, b := range reads {
				bases += len(b)
			}
			if pieces > len(reads)*11/10 {
				t.Errorf("%d reads have %d pieces", len(reads), pieces)
			}
			if most := rate*1.1*float64(bases) + 1e-5*float64(bases); float64(n) > most {
				t.Errorf("%d edits, want at most %.0f", n, most)
			}
			if literal > bases/200 {
				t.Errorf("%d of %d bases are literal", literal, bases)
			}
		})
	}
}

// TestVersions: half of the reads are of a genome that differs in one base of 300. They get a version of their own.
func TestVersions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	genome := drawBases(r, 100_000)
	other := slices.Clone(genome)
	for i := range other {
		if r.IntN(300) == 0 {
			other[i] = (other[i] + 1 + byte(r.IntN(3))) & 3
		}
	}
	reads := append(coverage(r, genome, 10, 8000, .002), coverage(r, other, 10, 8000, .002)...)
	s := build(t, reads, 1000, Config{Threads: 2})
	_, n, _ := tally(t, s, reads)
	bases := 0
	for _, b := range reads {
		bases += len(b)
	}
	// Without versions there are another bases/600 edits.
	if most := bases / 333; n > most {
		t.Errorf("%d edits, want at most %d", n, most)
	}
	if s.Len() > 250_000 {
		t.Errorf("the shared sequence has %d bases", s.Len())
	}
}

// TestMosaic: a read that follows one version of a sequence and then the other has a piece of each, without edits. Where the sequence is
// not said to have versions, the one that covers more has all.
func TestMosaic(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	one := drawBases(r, 40_000)
	other := slices.Clone(one)
	for i := 50; i < len(other); i += 100 {
		other[i] ^= 1
	}
	both := slices.Concat(one, drawBases(r, 500), reversed(other))
	s := NewSequence(packed(both).Bases, len(both), 2)
	read := slices.Concat(one[:15_000], other[15_000:30_000], one[30_000:])
	for _, reads := range [][][]byte{{read}, {reversed(read)}} {
		s.versions = true
		if pieces, n, literal := tally(t, s, reads); pieces != 3 || n > 10 || literal > 0 {
			t.Errorf("%d pieces, %d edits, %d literal bases", pieces, n, literal)
		}
		s.versions = false
		if pieces, n, _ := tally(t, s, reads); pieces != 1 || n != 150 {
			t.Errorf("%d pieces, %d edits", pieces, n)
		}
	}
}

// TestStrains: genomes without errors, of which each is a mosaic of three, share their versions.
func TestStrains(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	founders := [][]byte{drawBases(r, 100_000)}
	for range 2 {
		f := slices.Clone(founders[0])
		for range 400 {
			f[r.IntN(len(f))] = byte(r.IntN(4))
		}
		founders = append(founders, f)
	}
	var genomes [][]byte
	for range 12 {
		var g []byte
		for len(g) < 100_000 {
			g = append(g, founders[r.IntN(3)][len(g):][:25_000]...)
		}
		genomes = append(genomes, g)
	}
	s := build(t, genomes, 3, Config{Threads: 2})
	pieces, n, literal := tally(t, s, genomes)
	if s.Len() > 450_000 || pieces > 12*6 || n > 150 || literal > 300 {
		t.Errorf("%d shared bases, %d pieces, %d edits, %d literal bases", s.Len(), pieces, n, literal)
	}
}

// TestNothingShared: what only one read has is not in the shared sequence.
func TestNothingShared(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var reads [][]byte
	for range 20 {
		reads = append(reads, drawBases(r, 3000))
	}
	if s := build(t, reads, 7, Config{Threads: 1}); s.Len() != 0 {
		t.Errorf("the shared sequence has %d bases", s.Len())
	}
}

// TestShortRepeats: reads that have only short repeats in common, which are not worth pieces, share no sequence.
func TestShortRepeats(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	repeats := drawBases(r, 3000)
	var reads [][]byte
	for range 200 {
		var b []byte
		for len(b) < 2000 {
			n := 20 + r.IntN(61)
			at := r.IntN(len(repeats) - n)
			b = append(b, repeats[at:at+n]...)
		}
		reads = append(reads, b)
	}
	if s := build(t, reads, 50, Config{Threads: 2}); s.Len() != 0 {
		t.Errorf("the shared sequence has %d bases", s.Len())
	}
}

// TestHits: a read of a repeat with many copies has a bounded number of hits, which are with the first copies.
func TestHits(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	unit := drawBases(r, 4000)
	var copies []byte
	for range 30 {
		copies = append(append(copies, unit...), drawBases(r, 300)...)
	}
	x := newIndex(packed(copies).Bases, len(copies), 2)
	read := packed(unit)
	var c chainer
	chains := c.find(x, read.Bases, read.N, 2)
	if most := hitsPerKmer*len(c.kmers) + freeHits; len(c.hits) > most || len(c.hits) < most/2 {
		t.Errorf("%d hits of %d k-mers, want at most %d and at least half of it", len(c.hits), len(c.kmers), most)
	}
	for _, h := range c.hits {
		if h.place > uint32(hitsPerKmer*4300) {
			t.Fatalf("a hit at base %d, which is not in one of the first %d copies", h.place, hitsPerKmer)
		}
	}
	if len(chains) != 1 || chains[0].score < len(unit)/2 {
		t.Errorf("%d chains", len(chains))
	}
	read = packed(mutated(r, unit[:2000], .01)) // a unique sequence keeps all hits
	x = newIndex(packed(unit).Bases, len(unit), 2)
	if c.find(x, read.Bases, read.N, 2); len(c.hits) < len(c.kmers)/2 {
		t.Errorf("%d hits of %d k-mers", len(c.hits), len(c.kmers))
	}
}

// TestGlobalGivesUp: stretches that have nothing in common are left before the work is the square of their length; long insertions are not.
func TestGlobalGivesUp(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	a, b := packed(drawBases(r, 3000)), packed(drawBases(r, 3000))
	var w waves
	if _, ok := w.global(nil, &task{a.Bases, b.Bases, 0, 0, 3000, 3000, false}, maxWave); ok {
		t.Error("random bases are aligned")
	}
	if most := 8 * maxLoss * maxLoss; len(w.reach) > most {
		t.Errorf("%d steps, want at most %d", len(w.reach), most)
	}
	bases := drawBases(r, 3000)
	a, b = packed(bases), packed(slices.Concat(bases[:1500], drawBases(r, maxLoss-10), bases[1500:]))
	got, ok := w.global(nil, &task{a.Bases, b.Bases, 0, 0, a.N, b.N, false}, maxWave)
	if !ok || len(got) != maxLoss-10 {
		t.Errorf("%d edits, %v", len(got), ok)
	}
}

// hardReads are reads of all kinds.
func hardReads(r *rand.Rand) [][]byte {
	genome := drawBases(r, 60_000)
	unit := drawBases(r, 7)
	tandem := slices.Repeat(unit, 600)
	copy(genome[20_000:], tandem)
	reads := coverage(r, genome, 5, 5000, .01)
	reads = append(reads, genome, reversed(genome), tandem, reversed(tandem), slices.Repeat([]byte{0}, 5000), slices.Repeat([]byte{3}, 800),
		slices.Repeat([]byte{0, 3}, 2000), slices.Repeat([]byte{2, 1}, 2000), drawBases(r, 701), drawBases(r, 900))
	for range 6 { // chimeras, deletions, insertions, inversions
		a, b := r.IntN(50_000), r.IntN(50_000)
		reads = append(reads, slices.Concat(genome[a:a+4000], reversed(genome[b:b+4000])), slices.Concat(genome[a:a+3000], genome[a+3500:a+8000]),
			slices.Concat(genome[a:a+3000], drawBases(r, 2000), genome[a+3000:a+6000]),
			slices.Concat(genome[a:a+3000], reversed(genome[a+3000:a+5000]), genome[a+5000:a+8000]))
	}
	for range 10 { // diverged copies
		reads = append(reads, mutated(r, genome[10_000:18_000], .15))
	}
	return reads
}

// TestHardReads: pieces give the bases of reads of all kinds, and the sequence does not depend on the number of threads.
func TestHardReads(t *testing.T) {
	reads := hardReads(rand.New(rand.NewPCG(7, 8)))
	for _, memory := range []uint64{0, 1 << 20} {
		var first *Sequence
		for _, threads := range []int{1, 2, 16} {
			s := build(t, reads, 50, Config{Threads: threads, Memory: memory})
			if first == nil {
				first = s
				tally(t, s, reads)
			} else if s.n != first.n || !slices.Equal(s.bases[:bases.WordsLen(s.n)], first.bases[:bases.WordsLen(s.n)]) {
				t.Errorf("memory %d: another sequence with %d threads", memory, threads)
			}
		}
	}
}

func BenchmarkAlign(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	genome := drawBases(r, 1_000_000)
	for _, rate := range []float64{.002, .03} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			s := NewSequence(packed(genome).Bases, len(genome), 1)
			var reads []Read
			n := 0
			for _, x := range coverage(r, genome, 2, 10000, rate) {
				reads = append(reads, packed(x))
				n += len(x)
			}
			b.SetBytes(int64(n))
			a := NewAligner(s)
			for b.Loop() {
				for _, x := range reads {
					a.Align(x.Bases, x.N)
				}
			}
		})
	}
}
