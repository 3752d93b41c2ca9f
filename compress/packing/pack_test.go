package packing

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/binning"
	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// binned returns the bins, in memory, of files of FASTQ.
func binned(t testing.TB, o record.Options, texts ...string) *bins.Reader {
	t.Helper()
	c := binning.Config{OutDir: t.TempDir(), Options: o, Record: binning.RecordAll, Threads: 2, Streams: 1, Hold: 1 << 30}
	for i, text := range texts {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.fastq", i))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		c.Inputs = append(c.Inputs, binning.InputSpec{Path: path, Mate: -1})
	}
	r, _, err := binning.RunUnnamed(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// randomReads returns n records of 100 bases.
func randomReads(n int) string {
	rng := rand.New(rand.NewSource(1))
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "@read.%d\n", i)
		for range 100 {
			b.WriteByte("ACGT"[rng.Intn(4)])
		}
		fmt.Fprintf(&b, "\n+\n%s\n", strings.Repeat("I", 100))
	}
	return b.String()
}

// TestFitsBeside: bins stay in memory where they, and they and the layout of the reads, leave enough of it.
func TestFitsBeside(t *testing.T) {
	testrun.NoRace(t)
	r := binned(t, record.Options{BlockSize: 1 << 20}, randomReads(2000)) // 200,000 bases: 1.3 MB to lay out; bins of 2 MiB
	if r.Held() != 2<<20 {
		t.Fatalf("%d bytes in memory", r.Held())
	}
	for memory, want := range map[uint64]bool{0: true, 1: false, 8 << 20: false, 12<<20 - 1: false, 12 << 20: true, 1 << 40: true} {
		if got := fitsBeside(r, memory); got != want {
			t.Errorf("with %d bytes: %v", memory, got)
		}
	}
	large := binned(t, record.Options{BlockSize: 1 << 20, ReadsOnly: true}, randomReads(20_000)) // 13 MB to lay out
	if held := large.Held(); fitsBeside(large, 7*held) || !fitsBeside(large, 16*held+30<<20) {
		t.Errorf("%d bytes in memory", held)
	}
}
