package overlap

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"orcomgo/bases"
	"orcomgo/internal/codectest"
	"orcomgo/internal/testrun"

	"orcomgo/bins"
	"orcomgo/cmd/simreads/sim"
)

// binned returns reads of A, C, G and T in the form of a share.
func binned(reads [][]byte) *Reads {
	type found struct {
		record   int
		sig, pos uint32
		reverse  bool
	}
	all := make([]found, len(reads))
	for i, r := range reads {
		f := found{record: i}
		f.sig, f.pos, f.reverse = codectest.Signature(r)
		all[i] = f
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.sig, b.sig) })
	rd := &Reads{fixedLength: uint32(len(reads[0])), nonACGT: make([]uint64, len(reads)/64+1)}
	rd.allocate(len(reads))
	for i, f := range all {
		var s sequence
		for _, c := range reads[f.record] {
			s.append([]byte{byte(strings.IndexByte("ACGT", c))})
		}
		place := f.pos << 1
		if f.reverse {
			rev := make([]byte, len(s.packed)+bases.Pad)
			bases.ReverseComplementInto(rev, s.packed, s.n)
			s.packed = rev
			place |= 1
		}
		copy(rd.packed[rd.offset(i):], s.packed[:bases.PackedLen(int(rd.fixedLength))])
		rd.records, rd.signaturePlace = append(rd.records, uint32(f.record)), append(rd.signaturePlace, place)
		if k := len(rd.groups); k == 0 || rd.groups[k-1].Signature != f.sig {
			rd.groups = append(rd.groups, bins.Bin{Signature: f.sig})
		}
		rd.groups[len(rd.groups)-1].Reads++
	}
	return rd
}

// shaped returns n reads of a shape of simreads or, for "genome", n reads of a genome of 2*n bases.
func shaped(t *testing.T, shape string, n int) *Reads {
	t.Helper()
	var reads [][]byte
	if shape == "genome" {
		s, err := sim.New(sim.Config{Genome: sim.Invent(sim.GenomeConfig{Size: 2 * n}), Reads: uint64(n), Length: 100})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := s.All()
		for i, line := range strings.Split(string(text), "\n") {
			if i%4 == 1 {
				reads = append(reads, []byte(line))
			}
		}
		return binned(reads)
	}
	next := sim.Shape(shape, n, 100, 1)
	for range n {
		reads = append(reads, slices.Clone(next()))
	}
	return binned(reads)
}

// builderOf returns a builder of reads that are all in memory, without a limit on memory.
func builderOf(rd *Reads) *builder {
	rd.indexByRecord = make([]uint32, rd.Count())
	for i, rec := range rd.records {
		rd.indexByRecord[rec] = uint32(i)
	}
	return &builder{config: Config{Threads: 2, Whole: true}, allReads: rd, workBytes: math.MaxUint64,
		records: &records{count: rd.Count(), fixedLength: rd.fixedLength}}
}

// TestWorkIsBounded lays out reads that overlap by chance or in part. The number of places with which reads and contigs are
// compared must be at most proportional to the number of reads. The test counts comparisons, as times vary.
func TestWorkIsBounded(t *testing.T) {
	// Without the limits, stutter tries 1500 to 1900 candidates per read, and compares 240 places per contig.
	const (
		mostLooked   = 100 + 100 + 100/2 // placing, placing again, placing the rest
		mostCompared = 200
	)
	for _, shape := range []string{
		"genome", "random", "shared24", "stutter", "chimera", "repeats", "tandem", "microsatellites", "identical", "polyA", "alternating",
	} {
		t.Run(shape, func(t *testing.T) {
			for _, n := range testrun.Pick([]int{10_000}, []int{10_000}, []int{10_000, 40_000}) {
				b := builderOf(shaped(t, shape, n))
				if err := b.build(context.Background()); err != nil {
					t.Fatal(err)
				}
				tried, compared := float64(b.candidatesTried)/float64(n), float64(b.placesCompared)/float64(n)
				t.Logf("%d reads: %.1f candidates tried, %.1f places compared per read", n, tried, compared)
				if tried > mostLooked || compared > mostCompared {
					t.Errorf(
						"%d reads: %.1f candidates tried, %.1f places compared per read, want at most %d and %d",
						n,
						tried,
						compared,
						mostLooked,
						mostCompared,
					)
				}
			}
		})
	}
}

// TestContigsTakeLittleMemory: contigs of reads that share 24 bases and differ elsewhere once took 15 kB of memory per read.
func TestContigsTakeLittleMemory(t *testing.T) {
	for _, shape := range []string{"shared24", "suffix50", "random", "stutter", "identical"} {
		t.Run(shape, func(t *testing.T) {
			const n = 20_000
			rd := shaped(t, shape, n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c := binContigs(rd, nil, bigBinReads, 1)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 200*n+(4<<20) {
				t.Errorf("%d bytes a read were allocated for contigs", got/n)
			}
			if got := c.bytes(); got > 180*n {
				t.Errorf("%d bytes a read are held by contigs", got/n)
			}
			reads := len(c.singles)
			for _, s := range c.merged {
				reads += int(s.reads)
			}
			if reads != n {
				t.Errorf("%d reads in contigs, want %d", reads, n)
			}
		})
	}
}

// TestAssemblerStaysInBounds: after contigs were added, those that are there take at most the memory that the assembler may use, also
// while they are joined.
func TestAssemblerStaysInBounds(t *testing.T) {
	for _, shape := range []string{"random", "chimera", "repeats", "stutter", "genome"} {
		t.Run(shape, func(t *testing.T) {
			if !testrun.Long() && (shape == "repeats" || shape == "genome" || shape == "stutter") {
				t.Skip("make test-long runs all shapes")
			}
			reads, bytes := testrun.Pick(10_000, 10_000, 20_000), testrun.Pick[uint64](1<<19, 1<<19, 1<<20)
			rd := shaped(t, shape, reads)
			a := newAssembler(assemblerLimits{bases: 1 << 30, bytes: bytes}, 100, 1)
			for part := range 4 {
				a.addContigs(binContigs(rd, func(i int) bool { return i%4 == part }, bigBinReads, 1))
				if n := a.joinBytes(sparse, maxKmerParts/4); n > bytes {
					t.Errorf("contigs take %d bytes, want at most %d", n, bytes)
				}
				if held := uint64(len(a.set.packed)+len(a.singles.packed)) + uint64(a.set.count()+a.singles.count())*contigSetBytes; held > bytes/2 {
					t.Errorf("contigs hold %d bytes, want at most %d", held, bytes/2)
				}
			}
			if shape == "random" && a.full {
				t.Error("contigs of one read were missed")
			}
			if shape != "random" && a.set.count() == 0 {
				t.Error("no contig is left")
			}
		})
	}
}
