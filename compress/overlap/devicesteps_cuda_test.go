//go:build cuda

package overlap

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"orcomgo/cudakern"
	"orcomgo/internal/testrun"
)

// openForTest opens the GPU, or skips the test.
func openForTest(t *testing.T) *cuda {
	t.Helper()
	d, err := openCUDA()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	return d.(*cuda)
}

// stretches returns n stretches of lo to hi bases of a sequence, on both strands, with up to one base in `wrong` changed.
func stretchesOf(r *rand.Rand, seq []byte, n, lo, hi, wrong int) (all [][]byte) {
	for range n {
		m := min(lo+r.Intn(hi-lo+1), len(seq))
		at := r.Intn(len(seq) - m + 1)
		b := slices.Clone(seq[at : at+m])
		for range m / wrong {
			b[r.Intn(m)] = byte(r.Intn(4))
		}
		if r.Intn(2) == 1 {
			b = reversed(b)
		}
		all = append(all, b)
	}
	return all
}

// repeated returns n copies of a unit, end to end.
func repeated(unit []byte, n int) (all []byte) {
	for range n {
		all = append(all, unit...)
	}
	return all
}

// joinCases are sets of contigs, by name.
func joinCases(r *rand.Rand) map[string][][]byte {
	genome := randomBases(r, 60_000)
	repeats := slices.Clone(genome[:3000])
	for range 40 {
		repeats = append(repeats, genome[100:400]...)
		repeats = append(repeats, randomBases(r, 200)...)
	}
	long := randomBases(r, 500_000)
	cases := map[string][][]byte{
		"one":           {genome[:200]},
		"two":           {genome[:200], genome[100:300]},
		"none overlaps": {genome[:100], genome[200:300], genome[400:500]},
		"short":         {genome[:18], genome[:18], genome[:17], {}, genome[:19], {}, {}, genome[5:23], reversed(genome[:18]), {}},
		"genome":        stretchesOf(r, genome, 4000, 30, 300, 60),
		"repeats":       stretchesOf(r, repeats, 4000, 30, 300, 100),
		"tandem":        stretchesOf(r, repeated(randomBases(r, 23), 200), 1500, 40, 400, 200),
		"two bases":     stretchesOf(r, repeated([]byte{0, 3}, 2000), 500, 20, 300, 100),
		"one base":      stretchesOf(r, make([]byte, 3000), 700, 18, 700, 50),
		"palindromes":   stretchesOf(r, repeated([]byte{0, 1, 2, 3}, 400), 700, 18, 300, 40),
		// A long contig overlaps many, and has more proposals than a table of a warp, and than a small one of a thread block.
		"long": append(append(stretchesOf(r, long, 3, 200_000, 450_000, 2000), long),
			stretchesOf(r, long, 3000, 50, 500, 60)...),
		// Contigs of many k-mers that all are in groups of many others: a great many proposals.
		"many proposals": append(
			stretchesOf(r, repeats, 60, 8000, 12_000, 30),
			stretchesOf(r, repeated(randomBases(r, 31), 400), 40, 3000, 9000, 20)...),
	}
	// The first contig has the lowest rank, and more partners than a table of the first size has room for.
	cases[manyPartners] = append([][]byte{long}, stretchesOf(r, long, 14_000, 40, 60, 1000)...)
	return cases
}

const manyPartners = "many partners"

// compareJoins runs rounds of joining, and compares what the GPU finds in each with what the CPU does.
func compareJoins(t *testing.T, d device, r *rand.Rand, set contigSet, rounds []sampler) {
	t.Helper()
	j := joiner{set: set, readBases: uint64(30 + r.Intn(100)), threads: 2}
	j.set.rank(2)
	for i, by := range rounds {
		cpu := joiner{set: j.set, readBases: j.readBases, threads: 2, settled: j.settled}
		cpu.set.left = slices.Clone(j.set.left)
		before := slices.Clone(j.set.left)
		cpu.groups.fill(&cpu.set, by, 2, cpu.settled)
		want := cpu.partners(&cpu.groups)
		got, left, compared, err := d.partners(&j, by)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(before, j.set.left) {
			t.Fatal("the device changed the set")
		}
		if !slices.Equal(got, want) || !slices.Equal(left, cpu.set.left) || compared != cpu.compared {
			different := 0
			for c := range want {
				if got[c] != want[c] || left[c] != cpu.set.left[c] {
					if different++; different < 5 {
						t.Errorf(
							"round %d, %+v: contig %d of %d bases: link %x, %d left on the GPU, %x, %d on the CPU, of %d",
							i,
							by,
							c,
							j.set.length[c],
							got[c],
							left[c],
							want[c],
							cpu.set.left[c],
							before[c],
						)
					}
				}
			}
			t.Fatalf(
				"round %d, %+v: %d of %d contigs differ, %d comparisons instead of %d",
				i,
				by,
				different,
				len(want),
				compared,
				cpu.compared,
			)
		}
		j.set.left, j.compared = left, j.compared+compared
		n := j.set.count()
		joined := j.merge(got)
		t.Logf("round %d, %+v: %d contigs, %d comparisons, %d joined", i, by, n, compared, joined)
		if i%3 == 2 {
			j.settled = nil
		}
	}
}

// TestJoinsOnGPU: each round of joining finds the same partners with the same number of comparisons.
func TestJoinsOnGPU(t *testing.T) {
	d := openForTest(t)
	r := rand.New(rand.NewSource(74))
	rounds := []sampler{{rate: 8}, {rate: 3}, {rate: 3}, {rate: 2, ends: 3}, {rate: 3, ends: 16}, {rate: 3, ends: 16},
		{rate: 3, ends: 16, part: 1, parts: 3}, {rate: 8, part: 0, parts: 2}}
	cases := joinCases(r)
	for _, name := range sortedKeys(cases) {
		seqs := cases[name]
		t.Run(name, func(t *testing.T) {
			set := contigSet{}
			set.grow(len(seqs), 2, func(i int) (int, uint64) { return len(seqs[i]), 1 + uint64(r.Intn(4))*uint64(r.Intn(9)) },
				func(i int, dst []byte) { packBases(dst, seqs[i]) })
			if name == manyPartners {
				set.reads[0] = 0
			}
			for i := range set.left {
				if r.Intn(5) == 0 {
					set.left[i] = uint32(r.Intn(4)) // some contigs may be compared a few times only
				}
			}
			compareJoins(t, d, r, set, rounds)
			if err := d.endJoining(); err != nil {
				t.Error(err)
			}
		})
	}
	for _, n := range []int{3_000, 60_000, 1_000_000} {
		for _, shape := range []string{"genome", "stutter", "repeats", "tandem", "chimera", "microsatellites", "polyA"} {
			if testrun.Short() && n > 3_000 || n > 60_000 && shape != "genome" && shape != "repeats" {
				continue
			}
			t.Run(fmt.Sprint(shape, " ", n), func(t *testing.T) {
				rd := shaped(t, shape, n)
				a := newAssembler(assemblerLimits{bases: maxPseudogenome, bytes: math.MaxUint64}, 100, 2)
				a.addContigs(binContigs(rd, nil, bigBinReads, 2))
				a.set.append(&a.singles, 2)
				if a.set.count() > 0 {
					compareJoins(t, d, r, a.set, rounds)
				}
			})
		}
	}
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestJoinsInLittleDeviceMemory: with too little memory on the device, the error says so, and the same device does other rounds.
func TestJoinsInLittleDeviceMemory(t *testing.T) {
	d := openForTest(t)
	defer func() { cudakern.MostMemory = 0 }()
	r := rand.New(rand.NewSource(75))
	seqs := joinCases(r)["repeats"]
	failed, done := 0, 0
	for limit := int64(1 << 16); limit < 1<<33; limit *= 2 {
		cudakern.MostMemory = limit
		j := joiner{set: *setOf(seqs), readBases: 100, threads: 2}
		cpu := joiner{set: *setOf(seqs), readBases: 100, threads: 2}
		by := sampler{rate: 3, ends: 16}
		got, left, _, err := d.partners(&j, by)
		switch {
		case errors.Is(err, errDeviceMemory):
			failed++
			if done > 0 {
				t.Errorf("%d bytes are too few, but fewer were enough", limit)
			}
		case err != nil:
			t.Fatal(err)
		default:
			done++
			cpu.groups.fill(&cpu.set, by, 2, cpu.settled)
			if want := cpu.partners(&cpu.groups); !slices.Equal(got, want) || !slices.Equal(left, cpu.set.left) {
				t.Errorf("%d bytes: other partners than by the CPU", limit)
			}
		}
		if err := d.endJoining(); err != nil {
			t.Fatal(err)
		}
	}
	if failed == 0 || done == 0 {
		t.Errorf("%d limits were too small, %d were not", failed, done)
	}
}

// TestLayoutsInLittleDeviceMemory: with any amount of memory on the device, a layout is that of the CPU, and what the device has too little
// memory for is noted once.
func TestLayoutsInLittleDeviceMemory(t *testing.T) {
	if d, err := openCUDA(); err != nil {
		t.Skip(err)
	} else if err := d.close(); err != nil {
		t.Fatal(err)
	}
	defer func() { cudakern.MostMemory = 0 }()
	_, ds := hardReads(rand.New(rand.NewSource(78)))
	archive := archiveOf(t, 20_000, lettersOf(ds))
	for _, c := range []Config{{Whole: true, Threads: 4}, {Memory: littleMemory, Threads: 4}} {
		want := layOut(t, archive, c)
		noted, silent := 0, 0
		for limit := int64(1 << 13); limit < 1<<28; limit = limit*2 + 1 {
			cudakern.MostMemory = limit
			var notes []string
			c.GPU, c.Note, c.deviceAlways = true, func(line string) { notes = append(notes, line) }, true
			if got := layOut(t, archive, c); !sameLayout(got, want) {
				t.Errorf("whole %t, %d bytes: another layout than by the CPU", c.Whole, limit)
			}
			switch {
			case len(notes) == 0:
				silent++
			case len(notes) == 1 && strings.Contains(notes[0], "too little memory"):
				noted++
			default:
				t.Errorf("whole %t, %d bytes: the notes are %q", c.Whole, limit, notes)
			}
			if n := cudakern.AllocatedMemory(); n != 0 {
				t.Fatalf("%d bytes of device memory were not freed", n)
			}
		}
		if noted < 3 || silent == 0 {
			t.Errorf("whole %t: %d limits were too small, %d were not", c.Whole, noted, silent)
		}
	}
}
