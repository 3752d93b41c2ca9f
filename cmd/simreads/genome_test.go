package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/cmd/simreads/sim"
)

func TestGenomeFiles(t *testing.T) {
	g := sim.Invent(sim.GenomeConfig{Size: 10_007, Contigs: 3, Repeats: 0.3, Seed: 9})
	text := func(g *sim.Genome) []byte {
		var b bytes.Buffer
		if err := g.WriteFASTA(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	path := filepath.Join(t.TempDir(), "g.fa")
	if err := os.WriteFile(path, text(g), 0o666); err != nil {
		t.Fatal(err)
	}
	back, err := loadGenome(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text(g), text(back)) || bytes.Count(text(back), []byte{'>'}) != 3 || back.Size() != 10_007 {
		t.Error("the genome changed on its way through a file")
	}
	if _, err := loadGenome(filepath.Join(t.TempDir(), "none.fa")); err == nil {
		t.Error("a missing file is a genome")
	}
	empty := filepath.Join(t.TempDir(), "empty.fa")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := loadGenome(empty); err == nil {
		t.Error("a file without a sequence is a genome")
	}
}
