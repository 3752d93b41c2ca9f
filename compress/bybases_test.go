package compress

import (
	"bytes"
	"context"
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/cmd/simreads/sim"
	"orcomgo/compress/archive"
	"orcomgo/compress/packing"
	"orcomgo/internal/codectest"
	"orcomgo/internal/testrun"
)

// longReads returns the text of long reads whose qualities are worse at the ends of runs of one base, and how many bases they have.
func longReads(t *testing.T, reads uint64) (text string, bases int) {
	t.Helper()
	s, err := sim.New(sim.Config{Genome: sim.Invent(sim.GenomeConfig{Size: 60_000, Seed: 3}), Reads: reads, Length: 3000, Long: true,
		Quality: sim.Nanopore, Names: sim.Nanoread, Indels: 0.02, NRate: 0.0005, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	all, _ := s.All()
	r := rand.New(rand.NewSource(5))
	lines := bytes.Split(all, []byte("\n"))
	for i := 3; i < len(lines); i += 4 {
		seq, q := lines[i-2], lines[i]
		bases += len(seq)
		value := 0
		for j := range q {
			if value += r.Intn(3) - 1; value < 0 || value > 19 {
				value = 10
			}
			low := 0
			if j > 0 && seq[j] == seq[j-1] && (j+1 == len(seq) || seq[j+1] != seq[j]) {
				low = 10
			}
			q[j] = byte('5' + max(value-low, 0))
		}
	}
	return string(bytes.Join(lines, []byte("\n"))), bases
}

// manifestIn returns the manifest of the packed archive of a folder.
func manifestIn(t *testing.T, dir string) *archive.Manifest {
	t.Helper()
	e, err := commit.One(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := archive.OpenEntry(e)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.Manifest()
}

// TestQualitiesByBases: qualities of long reads are given the bases where that pays, and come back, beside short reads, of which they are
// not; with any options, and with the same bytes for any number of threads.
func TestQualitiesByBases(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	setLimits(t, func(l *packing.Limits) { l.Text = 200_000 })
	long, _ := longReads(t, 60)
	short, _ := simulated(70, 300, false)
	ins := []input{{"long.fastq", long, -1, false}, {"short.fastq", short, -1, false}}
	for name, c := range map[string]struct {
		options record.Options
		pack    PackOptions
		want    bool
		short   bool // left out of short runs
		always  bool // and only of these; the others are for long runs alone
	}{
		"lossless":      {record.Options{}, PackOptions{}, true, false, false},
		"any order":     {record.Options{OrderAny: true}, PackOptions{}, true, true, true},
		"small blocks":  {record.Options{BlockSize: 200_000}, PackOptions{}, true, true, false},
		"little memory": {record.Options{BlockSize: 200_000}, PackOptions{Memory: 1 << 20}, true, false, false},
		"eight levels":  {record.Options{Quality: record.QualityBin8}, PackOptions{}, false, true, true},
		"reads only":    {record.Options{ReadsOnly: true}, PackOptions{}, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.short && (testrun.Short() || !c.always && !testrun.Long()) {
				t.Skip("slow")
			}
			var first map[string]string
			threads := []int{3}
			if name == "lossless" {
				threads = []int{1, 3}
			}
			for _, threads := range threads {
				dir := binTo(t, ins, c.options)
				want := unpackAll(t, dir, UnpackOptions{})
				c.pack.Threads = threads
				packTo(t, dir, c.pack)
				man := manifestIn(t, dir)
				if man.Inputs[0].QualsByBases != c.want || man.Inputs[1].QualsByBases {
					t.Errorf("given the bases: %v and %v", man.Inputs[0].QualsByBases, man.Inputs[1].QualsByBases)
				}
				if !c.options.OrderAny {
					sameFiles(t, unpackAll(t, dir, UnpackOptions{}), want)
				}
				if files := filesIn(t, dir); first == nil {
					first = files
				} else {
					sameFiles(t, files, first)
				}
				e, err := commit.One(dir)
				if err != nil {
					t.Fatal(err)
				}
				status, err := Verify(context.Background(), e, VerifyOptions{Threads: 2})
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range status {
					if !s.OK {
						t.Errorf("%+v", s)
					}
				}
			}
		})
	}
}

// TestQualitiesByBasesPay: such an archive is smaller than one in which the qualities are coded by themselves.
func TestQualitiesByBasesPay(t *testing.T) {
	testrun.NoRace(t)
	text, bases := longReads(t, 150)
	dir := binTo(t, single("a.fastq", text), record.Options{})
	s := packTo(t, dir, PackOptions{Threads: 2})
	// Without the bases nothing says where the ends of runs are: a tenth of the bases, 0.47 bits for each base.
	if got := float64(8*s.Columns.ByColumn[archive.Quals]) / float64(bases); got > 2.1 {
		t.Errorf("qualities take %.3f bits a base", got)
	}
}

// TestQualitiesByBasesDamaged: where the sequences are damaged, the qualities that are given them are lost as well, and nothing else is
// restored instead.
func TestQualitiesByBasesDamaged(t *testing.T) {
	testrun.NoRace(t)
	text, _ := longReads(t, 120)
	dir := binTo(t, single("a.fastq", text), record.Options{})
	packTo(t, dir, PackOptions{Threads: 2})
	man := manifestIn(t, dir)
	for name, section := range map[string]archive.Section{
		"sequences": man.Slices[0].Seqs,
		"qualities": man.Slices[0].First.Sections[archive.Quals],
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "a.cdna")
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			defer os.WriteFile(path, whole, 0o666)
			bad := codectest.WithoutParity(whole)
			bad[section.Off+section.Len/2] ^= 1
			if err := os.WriteFile(path, bad, 0o666); err != nil {
				t.Fatal(err)
			}
			out := t.TempDir()
			if _, err := Unpack(context.Background(), dir, UnpackOptions{OutDir: out}); !errors.Is(err, ErrCorrupt) {
				t.Errorf("error %v", err)
			}
			if files := filesIn(t, out); len(files) != 0 {
				t.Errorf("%d files were restored", len(files))
			}
		})
	}
}
