package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"orcomgo/cmd/simreads/sim"
	"orcomgo/internal/testrun"
)

// drawBAM writes a draw as PREFIX.bam.
func drawBAM(t *testing.T, prefix string, c sim.Config) (path string) {
	t.Helper()
	s, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.Write(sim.BAMHeader())
	if err := s.Write(t.Context(), &b, nil, 2, c.BAM()); err != nil {
		t.Fatal(err)
	}
	path = prefix + ".bam"
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// bamConfig is what reads of BAM are drawn, by a number.
func bamConfig(n int) sim.Config {
	c := sim.Config{Genome: sim.Invent(sim.GenomeConfig{Size: 5000 + 1000*(n%7)}), Seed: uint64(n), Reads: uint64(1 + n*37%300),
		Quality: sim.Levels4, NRate: 0.001}
	switch n % 4 {
	case 0:
		c.Long, c.Quality, c.Names, c.Length, c.Reads = true, sim.HiFi, sim.PacBio, 1000+100*(n%5), c.Reads/10+1
		c.Strands = n%8 == 4
	case 1:
		c.Long, c.Quality, c.Names, c.Length, c.Reads = true, sim.Nanopore, sim.Nanoread, 800, c.Reads/10+1
	case 2:
		c.Paired, c.Quality = true, sim.Levels8
	}
	return c
}

// TestBAMDraws: the inflated bytes of what simreads draws come back.
func TestBAMDraws(t *testing.T) {
	dir := t.TempDir()
	for n := range testrun.Pick(4, 8, 200) {
		name := fmt.Sprint("draw", n)
		file := drawBAM(t, filepath.Join(dir, name), bamConfig(n))
		out, restored := filepath.Join(dir, "out", name), filepath.Join(dir, "restored")
		if status, errs := runHere("archive", "-q", file, out); status != 0 {
			t.Fatalf("%s: status %d: %s", name, status, errs)
		}
		mustRun(t, "unpack", "-q", out, "-o", restored)
		want, got := inflated(t, file), inflated(t, filepath.Join(restored, name+".bam"))
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes came back as %d others", name, len(want), len(got))
		}
	}
}

// TestLongBAMSizes: HiFi with kinetics takes at most 0.75 of the file, and 0.85 of CRAM 3.1; reads of Illumina 1.03 of their FASTQ.
func TestLongBAMSizes(t *testing.T) {
	testrun.OnlyLong(t)
	if _, err := exec.LookPath("samtools"); err != nil {
		t.Skip("samtools is not installed")
	}
	dir := t.TempDir()
	archived := func(file string) (n int64) {
		t.Helper()
		mustRun(t, "archive", "-q", file, file+"-archive")
		entries, err := os.ReadDir(file + "-archive")
		if err != nil || len(entries) == 0 {
			t.Fatalf("%d files of the archive: %v", len(entries), err)
		}
		for _, e := range entries {
			n += fileSize(t, filepath.Join(file+"-archive", e.Name()))
		}
		return n
	}
	genome := sim.Invent(sim.GenomeConfig{Size: 1_000_000, Repeats: 0.1})
	hifi := drawBAM(t, filepath.Join(dir, "hifi"), sim.Config{Genome: genome, Reads: 2800, Long: true, Quality: sim.HiFi, Names: sim.PacBio,
		Indels: 0.002, NRate: 0.0001, Seed: 1})
	cram := filepath.Join(dir, "hifi.cram")
	args := []string{"view", "-C", "--output-fmt-option", "version=3.1", "-O", "cram,archive", "-o", cram, hifi}
	if out, err := exec.CommandContext(t.Context(), "samtools", args...).CombinedOutput(); err != nil {
		t.Fatalf("samtools: %v: %s", err, out)
	}
	took := float64(archived(hifi))
	ofFile, ofCRAM := took/float64(fileSize(t, hifi)), took/float64(fileSize(t, cram))
	t.Logf("HiFi: %.4f of the file, %.4f of CRAM", ofFile, ofCRAM)
	if ofFile > 0.75 || ofCRAM > 0.85 {
		t.Errorf("HiFi takes %.4f of the file, %.4f of CRAM", ofFile, ofCRAM)
	}

	c := sim.Config{Genome: genome, Reads: 100_000, Quality: sim.Levels4, Seed: 1}
	illumina, fastq := drawBAM(t, filepath.Join(dir, "illumina"), c), filepath.Join(dir, "same.fastq")
	s, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := s.All()
	if err := os.WriteFile(fastq, text, 0o666); err != nil {
		t.Fatal(err)
	}
	of := float64(archived(illumina)) / float64(archived(fastq))
	t.Logf("Illumina: %.4f of FASTQ", of)
	if of > 1.03 {
		t.Errorf("reads of Illumina take %.4f of their FASTQ", of)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
