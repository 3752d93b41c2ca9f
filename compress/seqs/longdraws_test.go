package seqs

import (
	"context"
	"math"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/cmd/simreads/sim"
	"orcomgo/compress/basemodel"
	"orcomgo/internal/testrun"
)

// TestLongDraws: the sequences of long reads, with insertions and deletions, cost little more than the genome that they are drawn from,
// and their places and errors by their entropies. ORCOMGO_LONG draws them from a larger genome.
func TestLongDraws(t *testing.T) {
	size := 150_000
	if testrun.Long() {
		size = 10_000_000
	}
	for _, x := range []struct {
		name   string
		c      sim.Config
		errors float64 // bits a base: the entropies of errors, given the run of equal bases that each is in, and of Ns
	}{
		{"hifi", sim.Config{Quality: sim.HiFi, Indels: 0.002}, 0.109},
		{"nanopore", sim.Config{Quality: sim.Nanopore, Indels: 0.025}, 0.423},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := x.c
			c.Genome = sim.Invent(sim.GenomeConfig{Size: size, Repeats: 0.1, Seed: 1})
			c.Long, c.Seed, c.NRate = true, 1, 0.0001
			c.Reads = c.ReadsFor(30)
			s, err := sim.New(c)
			if err != nil {
				t.Fatal(err)
			}
			genome := basemodel.Encode(len(c.Genome.Letters()), func(dst []byte, pos, n int) []byte {
				for _, b := range c.Genome.Letters()[pos : pos+n] {
					dst = append(dst, b>>1&3^b>>2&1)
				}
				return dst
			}, basemodel.Options{Threads: 2})
			var col column
			bits := 0.0
			s.Each(func(r *sim.Truth) {
				col.reads = append(col.reads, string(r.Bases))
				bits += math.Log2(2*float64(size)) + float64(len(r.Bases))*x.errors
			})

			n := len(col.reads)
			e, err := Build(context.Background(), archiveOf(t, record.Options{ReadsOnly: true}, n, col), Config{Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			got := 0
			const slice = 3000
			for at := 0; at < n; at += slice {
				b, err := e.EncodeSlice(context.Background(), sliceColumn(0, col, at, min(slice, n-at), nil, false), nil)
				if err != nil {
					t.Fatal(err)
				}
				got += len(b)
			}
			for _, b := range e.Shared() {
				got += len(b)
			}
			want := float64(len(genome)) + bits/8
			t.Logf("%d bytes; genome, places and errors cost %.0f: %.3f times that", got, want, float64(got)/want)
			if most := 1.1 * want; float64(got) > most {
				t.Errorf("%d bytes, want at most %.0f", got, most)
			}
		})
	}
}
