package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/cmd/simreads/sim"
)

// TestAligners: bwa mem and minimap2 align what they read from an archive as they align the files: both mates from FIFOs that one run
// writes, or from two runs, or interleaved.
func TestAligners(t *testing.T) {
	for _, program := range []string{"bash", "mkfifo", "samtools"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	dir := t.TempDir()
	simulated(t, dir, 3000)
	var genome bytes.Buffer
	if err := sim.Invent(sim.GenomeConfig{Size: 20_000}).WriteFASTA(&genome); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ref.fa"), genome.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "archive", "-q", "-1", filepath.Join(dir, "r1.fastq"), "-2", filepath.Join(dir, "r2.fastq"), filepath.Join(dir, "run"))
	path := "PATH=" + filepath.Dir(playedBy(t, "orcomgo")) + ":" + os.Getenv("PATH")
	bash := func(line string) string {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", "set -o pipefail; "+line)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), path)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", line, err, errs.Bytes())
		}
		return string(out)
	}
	bash("mkdir f; mkfifo f/r1.fastq f/r2.fastq")
	const fifos = "orcomgo unpack -q run -o f/ & ALIGN f/r1.fastq f/r2.fastq | samtools flagstat - && wait $!"
	const twoRuns = "ALIGN <(orcomgo unpack -q --mate 1 run -o -) <(orcomgo unpack -q --mate 2 run -o -) | samtools flagstat -"
	for _, c := range []struct {
		aligner, align, prepare string
		lines                   []string
	}{
		{"bwa", "bwa mem ref.fa", "bwa index ref.fa",
			[]string{fifos, twoRuns, "orcomgo unpack -q --interleave run -o - | bwa mem -p ref.fa - | samtools flagstat -"}},
		{"minimap2", "minimap2 -ax sr ref.fa", "true", []string{fifos, twoRuns}},
	} {
		t.Run(c.aligner, func(t *testing.T) {
			if _, err := exec.LookPath(c.aligner); err != nil {
				t.Skip(c.aligner + " is not installed")
			}
			bash(c.prepare)
			want := bash(c.align + " r1.fastq r2.fastq | samtools flagstat -")
			if !strings.Contains(want, "6000 + 0 primary\n") {
				t.Fatal(want)
			}
			for _, line := range c.lines {
				line = strings.ReplaceAll(line, "ALIGN", c.align)
				if got := bash(line); got != want {
					t.Errorf("%s:\n%s\nwant\n%s", line, got, want)
				}
			}
		})
	}
}
