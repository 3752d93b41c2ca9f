//go:build cuda

package overlap

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"orcomgo/internal/testrun"
)

// oddReads returns reads of 1 to 750 bases of a genome with repeats on both strands, runs of one base and palindromes, with up to
// an eighth of their bases wrong. One in seven has an N.
func oddReads(r *rand.Rand, n int) []string {
	genome := randomLetters(r, 30_000)
	genome += reverseComplement(genome[100:3000]) + strings.Repeat("A", 300) + strings.Repeat("ACGT", 90) + genome[5000:9000] +
		strings.Repeat("AT", 300)
	for range 20 {
		genome += changed(genome[200:700], r.Intn(500), r.Intn(500)) + strings.Repeat("A", 20+r.Intn(40))
	}
	var reads []string
	for i := range n {
		n := 1 + r.Intn(400)
		if i%1000 == 0 {
			n = 650 + r.Intn(100)
		}
		read := draw(r, genome, r.Intn(len(genome)-n+1), n, r.Intn(n/8+2), i%2 == 1).read
		if i%7 == 0 {
			read = read[:n/2] + "N" + read[n/2+1:]
		}
		reads = append(reads, read)
	}
	return reads
}

// compareWithCPU places all reads on a pseudogenome made of them, on the GPU and on the CPU, and compares all places.
func compareWithCPU(t *testing.T, new func() *builder) {
	t.Helper()
	var times [2]time.Duration
	var got [2]*builder
	for k := range got {
		b := new()
		b.config.Note = func(line string) { t.Error(line) }
		if k == 1 {
			b.config.deviceAlways = true
			b.accelerator = startAccelerator(b.config)
			defer b.accelerator.close()
			if !b.accelerator.usable() {
				t.Fatal("the GPU can't be used")
			}
		}
		if _, err := b.assemble(context.Background()); err != nil {
			t.Fatal(err)
		}
		b.placements = newPlacements(b.records.count, 2)
		began := time.Now()
		for _, m := range []placeMode{exact, loose} {
			if err := b.placeReads(context.Background(), 0, m, retryMismatched); err != nil {
				t.Fatal(err)
			}
		}
		times[k] = time.Since(began)
		got[k] = b
	}
	cpu, gpu := got[0].placements, got[1].placements
	placed, different := 0, 0
	for i, pos := range cpu.pos {
		if pos != Unplaced {
			placed++
		}
		if x, y := placeOf(cpu, i), placeOf(gpu, i); x != y || cpu.mismatches[i] != gpu.mismatches[i] {
			if different++; different < 10 {
				t.Errorf("read %d is at %s with %d mismatches on the CPU, at %s with %d on the GPU",
					i, x, cpu.mismatches[i], y, gpu.mismatches[i])
			}
		}
	}
	if placed == 0 || got[1].candidatesTried > 0 {
		t.Errorf("%d reads are placed, the CPU tried %d candidates of %d", placed, got[1].candidatesTried, got[0].candidatesTried)
	}
	t.Logf("%d of %d reads placed, %d differ; CPU %v, GPU %v", placed, len(cpu.pos), different, times[0], times[1])
}

// TestPlacesOnGPU runs on a machine with a GPU: make test-cuda builds it.
func TestPlacesOnGPU(t *testing.T) {
	d, err := openCUDA()
	if err != nil {
		t.Skip(err)
	}
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	t.Run("odd reads", func(t *testing.T) {
		rs := archiveReads(t, oddReads(rand.New(rand.NewSource(72)), 20_000))
		compareWithCPU(t, func() *builder { return readsOn(t, "", rs, 4) })
	})
	for _, n := range []int{255, 10_000, 300_000} {
		for _, shape := range []string{"genome", "stutter", "repeats", "tandem", "chimera", "microsatellites", "polyA"} {
			if testrun.Short() && n > 10_000 || n < 10_000 && shape != "polyA" {
				continue
			}
			t.Run(fmt.Sprint(shape, " ", n), func(t *testing.T) {
				rd := shaped(t, shape, n)
				compareWithCPU(t, func() *builder { return builderOf(rd) })
			})
		}
	}
}

// TestLayoutsOnGPU: a whole layout is the same, with all reads in memory and in shares.
func TestLayoutsOnGPU(t *testing.T) {
	if d, err := openCUDA(); err != nil {
		t.Skip(err)
	} else if err := d.close(); err != nil {
		t.Fatal(err)
	}
	_, ds := hardReads(rand.New(rand.NewSource(73)))
	archive := archiveOf(t, 20_000, lettersOf(ds))
	for _, c := range []Config{{Whole: true, Threads: 4}, {Memory: littleMemory, Threads: 4}} {
		want := layOut(t, archive, c)
		c.GPU, c.Note, c.deviceAlways = true, func(line string) { t.Error(line) }, true
		if got := layOut(t, archive, c); !sameLayout(got, want) {
			t.Errorf("whole %t: another layout than by the CPU", c.Whole)
		}
	}
}
