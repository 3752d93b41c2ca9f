package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"orcomgo/cmd/simreads/sim"
	"orcomgo/compress/estimate"
	"orcomgo/internal/testrun"
)

// writeReads writes simulated reads to dir, as NAME.fastq or as a pair of files, compressed if gz is set.
func writeReads(t *testing.T, dir, name string, gz bool, c sim.Config) {
	t.Helper()
	s, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	first, second := s.All()
	ext := ".fastq"
	if c.FASTA {
		ext = ".fasta"
	}
	files := map[string][]byte{name + ext: first}
	if c.Paired {
		files = map[string][]byte{name + "_R1" + ext: first, name + "_R2" + ext: second}
	}
	for file, text := range files {
		if gz {
			file, text = file+".gz", sim.Gzip(nil, text)
		}
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// genomeOf returns an invented genome of so many bases.
func genomeOf(bases int) *sim.Genome {
	return sim.Invent(sim.GenomeConfig{Size: bases, Repeats: 0.1})
}

// strains writes n genomes that differ in one of a thousand bases from each other, as FASTA.
func strains(t *testing.T, dir string, n, bases int) {
	t.Helper()
	s, err := sim.New(sim.Config{Genome: genomeOf(bases), Reads: 1})
	if err != nil {
		t.Fatal(err)
	}
	genome := s.Letters(0)
	for i := range n {
		text := bytes.Clone(genome)
		for at := 500 * (i + 1) % 997; at < len(text); at += 1000 {
			text[at] = "ACGT"[(at+i)%4]
		}
		text = append([]byte(fmt.Sprintf(">strain%d\n", i)), append(text, '\n')...)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("strain%d.fasta", i)), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// planOf returns what plan says with two threads.
func planOf(t *testing.T, args ...string) (plan planJSON) {
	t.Helper()
	cmd, out := child(t, append([]string{"plan", "-q", "-t", "2", "--json"}, args...)...)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := json.Unmarshal(out.Bytes(), &plan); err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestPlanHolds plans folders of many kinds, archives them, and compares the sizes of archives and the peak of memory with what was
// planned.
func TestPlanHolds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	const sizes, memory = 0.15, 0.15 // what is planned may be wrong by so much
	for _, f := range []struct {
		name  string
		long  bool // of make test-long
		flags []string
		plan  []string // of plan alone
		make  func(t *testing.T, dir string)
	}{
		{"few reads", false, nil, nil, func(t *testing.T, dir string) {
			for i := range 3 {
				writeReads(t, dir, fmt.Sprintf("s%d", i), i == 1, sim.Config{Genome: genomeOf(100_000), Reads: uint64(40 * i * i)})
			}
			put(t, dir, map[string][]byte{"notes.txt": []byte("three samples\n")})
		}},
		{"pairs, a tenth measured", false, nil, []string{"--sample", "500KB"}, func(t *testing.T, dir string) {
			writeReads(t, dir, "p", true, sim.Config{Genome: genomeOf(200_000), Reads: 10_000, Paired: true, Quality: sim.Levels4})
		}},
		{"two at a time", false, []string{"--jobs", "2"}, nil, func(t *testing.T, dir string) {
			for i := range 4 {
				writeReads(t, dir, fmt.Sprintf("s%d", i), true, sim.Config{Genome: genomeOf(200_000), Reads: 3000, Paired: true, Seed: uint64(i)})
			}
		}},
		{"strains in a group", false, []string{"--group", "auto"}, nil, func(t *testing.T, dir string) { strains(t, dir, 4, 100_000) }},

		{"pairs that cover a genome", true, nil, []string{"--sample", "16MB"}, func(t *testing.T, dir string) {
			writeReads(t, dir, "p", false, sim.Config{Genome: genomeOf(2_000_000), Reads: 300_000, Paired: true})
		}},
		{"pairs that hardly overlap", true, nil, []string{"--sample", "16MB"}, func(t *testing.T, dir string) {
			writeReads(t, dir, "p", true, sim.Config{Genome: genomeOf(50_000_000), Reads: 100_000, Paired: true, Length: 150, Quality: sim.Levels4})
		}},
		{"transcripts", true, nil, []string{"--sample", "16MB"}, func(t *testing.T, dir string) {
			writeReads(t, dir, "t", true, sim.Config{Genome: genomeOf(2_000_000), Reads: 400_000, Expression: 2, Quality: sim.Levels8})
		}},
		{"the same in little memory", true, []string{"--memory", "256MiB"}, []string{"--sample", "16MB"}, func(t *testing.T, dir string) {
			writeReads(t, dir, "t", true, sim.Config{Genome: genomeOf(2_000_000), Reads: 400_000, Expression: 2, Quality: sim.Levels8})
		}},
		{"long reads", true, nil, []string{"--sample", "16MB"}, func(t *testing.T, dir string) {
			writeReads(t, dir, "ccs", false, sim.Config{Genome: genomeOf(3_000_000), Reads: 5_000, Long: true, Quality: sim.HiFi, Indels: 0.002})
		}},
		{"two larger ones at a time", true, []string{"--jobs", "2"}, nil, func(t *testing.T, dir string) {
			for i := range 6 {
				writeReads(t, dir, fmt.Sprintf("s%d", i), true, sim.Config{Genome: genomeOf(500_000), Reads: 15_000, Paired: true, Seed: uint64(i)})
			}
		}},
		{"sequences alone", true, []string{"--reads-only", "--order", "any"}, []string{"--sample", "16MB"}, func(t *testing.T, dir string) {
			writeReads(t, dir, "r", false, sim.Config{Genome: genomeOf(3_000_000), Reads: 300_000})
		}},
		{"assemblies", true, nil, []string{"--sample", "1MB"}, func(t *testing.T, dir string) { strains(t, dir, 3, 3_000_000) }},
	} {
		t.Run(f.name, func(t *testing.T) {
			if f.long && !testrun.Long() {
				t.Skip("make test-long runs it")
			}
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			f.make(t, dir)
			plan := planOf(t, slices.Concat(f.flags, f.plan, []string{dir})...)
			archives := filepath.Join(t.TempDir(), "archives")
			archive := slices.Concat([]string{"archive", "-q", "-t", "2"}, f.flags, []string{dir, archives})
			peak, _ := peaksOf(t, archive...)
			size := 0
			for _, content := range contents(t, archives) {
				size += len(content)
			}
			wrong := func(what string, planned uint64, got int, within float64) bool {
				t.Logf("%s: %d planned, %d then", what, planned, got)
				return math.Abs(float64(planned)/float64(got)-1) > within
			}
			if wrong("bytes of archives", plan.Expected.Archive, size, sizes) {
				t.Errorf("%d bytes of archives planned, %d then", plan.Expected.Archive, size)
			}
			if wrong("memory", plan.Expected.Memory, peak, memory) {
				// Peaks of the same command differ, since garbage is collected beside the work: the middle one of three is to be right.
				planned, peaks := []uint64{plan.Expected.Memory}, []int{peak}
				for range 2 {
					planned = append(planned, planOf(t, slices.Concat(f.flags, f.plan, []string{dir})...).Expected.Memory)
					os.RemoveAll(archives)
					peak, _ := peaksOf(t, archive...)
					peaks = append(peaks, peak)
				}
				slices.Sort(planned)
				slices.Sort(peaks)
				if wrong("memory", planned[1], peaks[1], memory) {
					t.Errorf("%d bytes of memory planned, %d then", planned, peaks)
				}
			}
			if little := slices.Contains(f.flags, "--memory"); (plan.Expected.Temporary > 0) != little {
				t.Errorf("%d bytes of temporary disk; bins fit into memory unless that is little", plan.Expected.Temporary)
			}
		})
	}
}

// TestPlanWhole: text of up to one and a half times --sample is archived as a whole, compressed or not, and larger text is not.
func TestPlanWhole(t *testing.T) {
	for _, gz := range []bool{false, true} {
		dir := t.TempDir()
		writeReads(t, dir, "s", gz, sim.Config{Genome: genomeOf(100_000), Reads: 2000, Seed: 1})
		text := planOf(t, dir).Archives[0].Text
		for _, c := range []struct {
			sample uint64
			whole  bool
		}{{text, true}, {text * 3 / 4, true}, {text / 2, false}} {
			a := planOf(t, "--sample", fmt.Sprint(c.sample), dir).Archives[0]
			if a.Whole != c.whole || a.Whole && a.Text != text {
				t.Errorf("gzip %v, %d bytes of text: with --sample %d, whole is %v, of %d bytes", gz, text, c.sample, a.Whole, a.Text)
			}
		}
	}
}

// TestPlanTotal: archives one after another take the memory of the largest, and an eighth of the second largest, 7 MB at most.
func TestPlanTotal(t *testing.T) {
	for _, c := range []struct {
		memory []uint64 // of each archive, in MB; the program itself takes 20
		want   uint64
	}{
		{nil, 0}, {[]uint64{50}, 50}, {[]uint64{36, 50, 28}, 52}, {[]uint64{300, 50, 200}, 307},
	} {
		p := &plan{batch: batch{archiveFlags: &archiveFlags{jobs: 1, binFlags: binFlags{resources: resources{threads: 2}}}}}
		var list []planned
		for _, m := range c.memory {
			list = append(list, planned{program: 20e6, expected: estimate.Expected{Memory: m * 1e6}})
		}
		if got := p.total(list, nil, 1).Memory; got != c.want*1e6 {
			t.Errorf("archives of %d MB: %d bytes together instead of %d MB", c.memory, got, c.want)
		}
	}
}
