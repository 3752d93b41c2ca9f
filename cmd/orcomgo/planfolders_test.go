package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"orcomgo/cmd/simreads/sim"
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
	genome := genomeOf(bases).Letters()
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
// planned. What is measured as a whole is right; what is scaled is an upper bound.
func TestPlanHolds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	// What is planned of whole samples may be wrong by so much, and what is scaled may be too little by so much.
	const sizes, memory = 0.02, 0.15
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
		{"pairs, a tenth measured", false, nil, []string{"--sample", "250KB"}, func(t *testing.T, dir string) {
			writeReads(t, dir, "p", true, sim.Config{Genome: genomeOf(100_000), Reads: 5_000, Paired: true, Quality: sim.Levels4})
		}},
		{"two at a time", true, []string{"--jobs", "2"}, nil, func(t *testing.T, dir string) {
			for i := range 4 {
				writeReads(t, dir, fmt.Sprintf("s%d", i), true, sim.Config{Genome: genomeOf(100_000), Reads: 1500, Paired: true, Seed: uint64(i)})
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
		{"the same in little memory", true, []string{"--memory", "128MB"}, []string{"--sample", "16MB"}, func(t *testing.T, dir string) {
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
			whole := !slices.ContainsFunc(plan.Archives, func(a planned) bool { return !a.Whole })
			wrong := func(what string, planned uint64, got int, within float64) bool {
				t.Logf("%s: %d planned, %d then", what, planned, got)
				more := float64(planned)/float64(got) - 1
				return more < -within || whole && more > within
			}
			if wrong("bytes of archives", plan.Expected.Archive, size, sizes) {
				t.Errorf("%d bytes of archives planned, %d then", plan.Expected.Archive, size)
			}
			if plan.Jobs > 1 {
				whole = false // not all archives have their peak at the same time
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

// TestPlanWhole: text of up to --sample is archived as a whole, compressed or not, and larger text is not.
func TestPlanWhole(t *testing.T) {
	for _, gz := range []bool{false, true} {
		dir := t.TempDir()
		writeReads(t, dir, "s", gz, sim.Config{Genome: genomeOf(100_000), Reads: 500, Seed: 1})
		text := planOf(t, dir).Archives[0].Text
		for _, c := range []struct {
			sample uint64
			whole  bool
		}{{text, true}, {text * 3 / 4, false}} {
			a := planOf(t, "--sample", fmt.Sprint(c.sample), dir).Archives[0]
			if a.Whole != c.whole || a.Text != text {
				t.Errorf("gzip %v, %d bytes of text: with --sample %d, whole is %v, of %d bytes", gz, text, c.sample, a.Whole, a.Text)
			}
		}
	}
}

// TestPlanTotal: as many archives as there are jobs take the sum of their memory, and those before or after them only their time.
func TestPlanTotal(t *testing.T) {
	for jobs, want := range map[int]expected{1: {Archive: 120, Seconds: 12, Memory: betweenArchives + 50, Temporary: 7},
		2: {Archive: 120, Seconds: 6, Memory: betweenArchives + 90, Temporary: 7}} {
		j := planJSON{Jobs: jobs}
		for _, memory := range []uint64{30, 50, 40} {
			j.Archives = append(j.Archives, planned{Expected: &expected{Archive: memory, Seconds: 4, Memory: memory}})
		}
		j.Archives[1].Expected.Temporary = 7
		j.Archives = append(j.Archives, planned{Problem: "wrong"})
		if got := j.total(); got != want {
			t.Errorf("%d jobs: %+v instead of %+v", jobs, got, want)
		}
	}
}
