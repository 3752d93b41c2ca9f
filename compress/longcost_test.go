package compress

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/binning"
	"orcomgo/bins/record"
	"orcomgo/cmd/simreads/sim"
	"orcomgo/compress/basemodel"
)

// TestLongReadsCost: archives of the sequences of long reads take at most a tenth more than the genome, as the model of bases codes it,
// and what lengths, places, errors and Ns of the draw cost by their entropies (sim.Cost).
func TestLongReadsCost(t *testing.T) {
	if os.Getenv("ORCOMGO_LONG") == "" {
		t.Skip("make test-long runs this: minutes; seqs.TestLongDraws has less of it")
	}
	genome := sim.Invent(sim.GenomeConfig{Size: 10_000_000, Repeats: 0.1, Seed: 1})
	for name, c := range map[string]sim.Config{
		"hifi":     {Quality: sim.HiFi, Indels: 0.002, Names: sim.PacBio},
		"nanopore": {Quality: sim.Nanopore, Indels: 0.025, Names: sim.Nanoread},
	} {
		t.Run(name, func(t *testing.T) {
			c.Genome, c.Long, c.NRate, c.Seed = genome, true, 0.0001, 1
			c.Reads = c.ReadsFor(30)
			s, err := sim.New(c)
			if err != nil {
				t.Fatal(err)
			}
			letters := s.Letters(0)
			coded := basemodel.Encode(len(letters), func(dst []byte, pos, n int) []byte {
				for _, b := range letters[pos : pos+n] {
					dst = append(dst, b>>1&3^b>>2&1) // A C G T as 0 1 2 3
				}
				return dst
			}, basemodel.Options{Threads: 2})
			cost := s.Cost().Total()/8 + float64(len(coded.Section))

			dir := t.TempDir()
			in, out := filepath.Join(dir, "in.fastq"), filepath.Join(dir, "out")
			f, err := os.Create(in)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Write(context.Background(), io.Writer(f), nil, 2, nil); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			config := binning.Config{OutDir: out, Options: record.Options{ReadsOnly: true}, Threads: 2, Streams: 1,
				Inputs: []binning.InputSpec{{Path: in, Mate: -1}}}
			if _, err := binning.Run(context.Background(), config); err != nil {
				t.Fatal(err)
			}
			packTo(t, out, PackOptions{Threads: 2})
			files, err := os.ReadDir(out)
			if err != nil {
				t.Fatal(err)
			}
			got := 0.0
			for _, f := range files {
				info, err := f.Info()
				if err != nil {
					t.Fatal(err)
				}
				got += float64(info.Size())
			}
			t.Logf("%.0f bytes, the draw costs %.0f: %.3f", got, cost, got/cost)
			if got > 1.1*cost {
				t.Errorf("the archive has %.0f bytes, %.3f of what the draw costs, %.0f", got, got/cost, cost)
			}
		})
	}
}
