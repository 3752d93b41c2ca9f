package report

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress"
	"orcomgo/internal/codectest"
	"orcomgo/internal/testrun"
)

const fixtures = "../../testdata/"

// archiveOf archives files, of which two are a pair, and returns the archive.
func archiveOf(t testing.TB, o record.Options, files ...string) commit.Entry {
	t.Helper()
	dir := t.TempDir()
	var specs []binning.InputSpec
	for i, path := range files {
		spec := binning.InputSpec{Path: path, Mate: -1}
		if len(files) == 2 {
			spec.Mate, spec.First = 1-i, i == 0
		}
		specs = append(specs, spec)
	}
	config := binning.Config{Inputs: specs, OutDir: dir, Options: o, Record: binning.RecordTime}
	if _, err := binning.Run(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	if _, err := compress.Pack(context.Background(), dir, compress.PackOptions{Threads: 2}); err != nil {
		t.Fatal(err)
	}
	return entryOf(t, dir)
}

func entryOf(t testing.TB, dir string) commit.Entry {
	t.Helper()
	e, err := commit.One(dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func figuresOf(t testing.TB, e commit.Entry, threads int) *Figures {
	t.Helper()
	f, err := Make(context.Background(), e, Options{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// read is a record of a file, read without any code of this project.
type read struct{ name, bases, quals string }

// readsOf reads FASTQ of four lines a record, which may be compressed by gzip.
func readsOf(t testing.TB, path string) (list []read) {
	t.Helper()
	text, err := os.ReadFile(path)
	if z, zipErr := gzip.NewReader(bytes.NewReader(text)); err == nil && zipErr == nil {
		text, err = io.ReadAll(z)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := 0; i+3 < len(lines); i += 4 {
		list = append(list, read{lines[i][1:], lines[i+1], lines[i+3]})
	}
	return list
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

// TestFigures compares all figures of reads with those that are counted from the files in the plainest way.
func TestFigures(t *testing.T) {
	for _, files := range [][]string{{"pair41_R1.fastq", "pair41_R2.fastq"}, {"rna8.fastq"}, {"trimmed4.fastq"}, {"hifi.fastq"}} {
		t.Run(files[0], func(t *testing.T) {
			paths := make([]string, len(files))
			for i, f := range files {
				paths[i] = fixtures + f
			}
			f := figuresOf(t, archiveOf(t, record.Options{}, paths...), 2)
			if !f.Verification.OK || len(f.Reads) != len(files) {
				t.Fatalf("verified: %v, %d reads", f.Verification.OK, len(f.Reads))
			}
			for i, path := range paths {
				compareFigures(t, &f.Reads[i], readsOf(t, path))
			}
			if len(paths) == 2 {
				second := readsOf(t, paths[1])
				var both []string
				for i, r := range readsOf(t, paths[0]) {
					both = append(both, prefix(r.bases)+" "+prefix(second[i].bases))
				}
				compareDuplication(t, f.Pairs, both)
			} else if f.Pairs != nil {
				t.Error("pairs in a file without mates")
			}
			checkSizes(t, f, paths)
		})
	}
}

// TestFiguresData is TestFigures for a pair of real files.
func TestFiguresData(t *testing.T) {
	testrun.OnlyLong(t)
	data := testrun.Data(t)
	paths := []string{filepath.Join(data, "human_hiseq2500_R1.fastq.gz"), filepath.Join(data, "human_hiseq2500_R2.fastq.gz")}
	if _, err := os.Stat(paths[0]); err != nil {
		t.Skip(err)
	}
	f := figuresOf(t, archiveOf(t, record.Options{}, paths...), 2)
	var both []string
	first, second := readsOf(t, paths[0]), readsOf(t, paths[1])
	compareFigures(t, &f.Reads[0], first)
	compareFigures(t, &f.Reads[1], second)
	for i, r := range first {
		both = append(both, prefix(r.bases)+" "+prefix(second[i].bases))
	}
	compareDuplication(t, f.Pairs, both)
	if !f.Verification.OK || f.Gzip.StoredCompressed != 2 {
		t.Errorf("%+v, %+v", f.Verification, f.Gzip)
	}
	var page bytes.Buffer
	if err := f.Page(&page, "test"); err != nil || page.Len() > 1_500_000 {
		t.Errorf("%d bytes: %v", page.Len(), err)
	}
}

// compareFigures compares figures with those of reads.
func compareFigures(t *testing.T, f *ReadFigures, reads []read) {
	t.Helper()
	longest := 0
	letters := map[rune]uint64{}
	lengths := map[int]uint64{}
	means := map[int]uint64{}
	var q20, q30, sum, bases uint64
	var gc [101]float64
	var sequences []string
	for _, r := range reads {
		longest = max(longest, len(r.bases))
		lengths[len(r.bases)]++
		total, own := 0, map[rune]int{}
		for i, b := range r.bases {
			letters[b]++
			own[b]++
			q := int(r.quals[i]) - 33
			total += q
			if q >= 20 {
				q20++
			}
			if q >= 30 {
				q30++
			}
		}
		bases, sum = bases+uint64(len(r.bases)), sum+uint64(total)
		means[int(math.Floor(float64(total)/float64(len(r.bases))+0.5))]++
		// the read covers the part from gc/(n+1) to (gc+1)/(n+1) of the scale
		n := own['A'] + own['C'] + own['G'] + own['T']
		if n > 0 {
			from, to := 101*float64(own['G']+own['C'])/float64(n+1), 101*float64(own['G']+own['C']+1)/float64(n+1)
			for k := range gc {
				over := math.Min(to, float64(k+1)) - math.Max(from, float64(k))
				gc[k] += math.Max(over, 0) / (to - from)
			}
		}
		sequences = append(sequences, prefix(r.bases))
	}
	want := Letters{A: letters['A'], C: letters['C'], G: letters['G'], T: letters['T'], N: letters['N']}
	if f.Letters != want || f.Records != uint64(len(reads)) || f.Bases != bases {
		t.Errorf("%d records, %d bases, letters %v, want %d, %d, %v", f.Records, f.Bases, f.Letters, len(reads), bases, want)
	}
	acgt := float64(want.A + want.C + want.G + want.T)
	if !near(f.GC, 100*float64(want.G+want.C)/acgt) || !near(f.N, 100*float64(want.N)/float64(bases)) {
		t.Errorf("GC %v, N %v", f.GC, f.N)
	}
	for k := range gc {
		if math.Abs(gc[k]-f.GCByRead[k]) > 1e-5*math.Max(100, gc[k]) {
			t.Errorf("%v reads with %d %% GC, want %v", f.GCByRead[k], k, gc[k])
		}
	}
	q := f.Qualities
	if !near(q.Mean, float64(sum)/float64(bases)) || !near(q.Q20, 100*float64(q20)/float64(bases)) ||
		!near(q.Q30, 100*float64(q30)/float64(bases)) {
		t.Errorf("qualities %+v", q)
	}
	for _, c := range q.ByRead {
		if means[c.From] != c.Count {
			t.Errorf("%d reads with a mean quality of %d, want %d", c.Count, c.From, means[c.From])
		}
		delete(means, c.From)
	}
	if len(means) > 0 {
		t.Errorf("no reads with mean qualities %v", means)
	}
	for _, l := range f.Lengths {
		var n uint64
		for length := l.From; length <= l.To; length++ {
			n += lengths[length]
			delete(lengths, length)
		}
		if n != l.Count {
			t.Errorf("%d reads of %d to %d bases, want %d", l.Count, l.From, l.To, n)
		}
	}
	if len(lengths) > 0 {
		t.Errorf("no reads with lengths %v", lengths)
	}
	compareCycles(t, f.Cycles, reads, longest)
	compareDuplication(t, f.Duplication, sequences)
}

func compareCycles(t *testing.T, cycles []Cycle, reads []read, longest int) {
	t.Helper()
	next := 1
	for _, c := range cycles {
		if c.From != next || c.To < c.From {
			t.Fatalf("cycles %d to %d, want from %d on", c.From, c.To, next)
		}
		next = c.To + 1
		var quals []int
		letters := map[byte]uint64{}
		sum := 0
		for _, r := range reads {
			for i := c.From - 1; i < min(c.To, len(r.bases)); i++ {
				letters[r.bases[i]]++
				q := int(r.quals[i]) - 33
				quals = append(quals, q)
				sum += q
			}
		}
		if want := (Letters{A: letters['A'], C: letters['C'], G: letters['G'], T: letters['T'], N: letters['N']}); c.Letters != want {
			t.Fatalf("cycles %d to %d: letters %v, want %v", c.From, c.To, c.Letters, want)
		}
		sort.Ints(quals)
		at := func(p int) int { return quals[(len(quals)*p+99)/100-1] }
		want := CycleQuality{c.Quality.Mean, at(10), at(25), at(50), at(75), at(90)}
		if *c.Quality != want || !near(c.Quality.Mean, float64(sum)/float64(len(quals))) {
			t.Fatalf("cycles %d to %d: qualities %+v, want %+v, mean %v", c.From, c.To, *c.Quality, want, float64(sum)/float64(len(quals)))
		}
	}
	if next <= longest {
		t.Errorf("cycles up to %d, want up to %d", next-1, longest)
	}
}

// prefix is what FastQC compares of a read: all of up to 75 bases, else 50.
func prefix(s string) string {
	if len(s) > 75 {
		return s[:50]
	}
	return s
}

func compareDuplication(t *testing.T, d *Duplication, sequences []string) {
	t.Helper()
	counts := map[string]uint64{}
	for _, s := range sequences {
		counts[s]++
	}
	if d.OneIn != 1 || d.Distinct != uint64(len(counts)) || d.Sampled != uint64(len(sequences)) {
		t.Fatalf("%+v, want %d of %d", d, len(counts), len(sequences))
	}
	for _, l := range d.Levels {
		var n uint64
		for _, k := range counts {
			if k >= l.From && (l.To == 0 || k <= l.To) {
				n += k
			}
		}
		if n != l.Reads || !near(l.Percent, 100*float64(n)/float64(len(sequences))) {
			t.Errorf("%+v, want %d", l, n)
		}
	}
	if want := 100 * float64(len(sequences)-len(counts)) / float64(len(sequences)); !near(d.Duplicates, want) {
		t.Errorf("%v %% duplicates, want %v", d.Duplicates, want)
	}
}

// checkSizes compares figures about files with the files.
func checkSizes(t *testing.T, f *Figures, paths []string) {
	t.Helper()
	var text uint64
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		text += uint64(st.Size())
	}
	var columns uint64
	for _, c := range f.Columns {
		columns += c.Bytes
	}
	g := f.Gzip
	if f.Archive.TextBytes != text || columns != f.Archive.ArchiveBytes ||
		g.StoredBytes != text || g.StoredCompressed != 0 || g.SampleBytes != text {
		t.Errorf("sizes %+v, columns %d, text %d", g, columns, text)
	}
	if g.Ratio6 < 2 || g.Ratio6 > f.Archive.Ratio*1.5 {
		t.Errorf("gzip: %v, archive: %v", g.Ratio6, f.Archive.Ratio)
	}
	p := f.Pseudogenome
	if p == nil || p.Placed+p.Pieces+p.Alone != f.Archive.Records {
		t.Fatalf("pseudogenome %+v of %d records", p, f.Archive.Records)
	}
	if p.Bases > 0 && (len(p.AtLeast) == 0 || p.AtLeast[0] != DepthShare{0, 100}) {
		t.Errorf("shares %v", p.AtLeast)
	}
}

// TestThreads: figures do not depend on the number of threads, and bins have the same as the packed archive but for the layout.
func TestThreads(t *testing.T) {
	e := archiveOf(t, record.Options{}, fixtures+"pair41_R1.fastq", fixtures+"pair41_R2.fastq")
	one, three := figuresOf(t, e, 1), figuresOf(t, e, 3)
	a, _ := json.Marshal(one)
	b, _ := json.Marshal(three)
	if !bytes.Equal(a, b) {
		t.Error("the figures differ")
	}
	dir := t.TempDir()
	config := binning.Config{Inputs: []binning.InputSpec{{Path: fixtures + "pair41_R1.fastq", Mate: 1, First: true},
		{Path: fixtures + "pair41_R2.fastq", Mate: 0}}, OutDir: dir, Record: binning.RecordTime}
	if _, err := binning.Run(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	binned := figuresOf(t, entryOf(t, dir), 2)
	if !reflect.DeepEqual(binned.Reads, one.Reads) || binned.Pseudogenome != nil || len(binned.Unknown) != 1 {
		t.Errorf("bins: pseudogenome %v, unknown %q", binned.Pseudogenome, binned.Unknown)
	}
}

// TestUnknown: what an archive does not have is said, on the page as well, and never shown as a figure.
func TestUnknown(t *testing.T) {
	fasta := filepath.Join(t.TempDir(), "reads.fasta")
	if err := os.WriteFile(fasta, []byte(">a\nACGTN\n>b\nAC\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file string
		o          record.Options
		want       []string
	}{
		{"whole", fixtures + "rna8.fastq", record.Options{}, nil},
		{"no qualities", fixtures + "rna8.fastq", record.Options{Quality: record.QualityDrop}, []string{"Qualities: "}},
		{"no names", fixtures + "rna8.fastq", record.Options{DropNames: true}, []string{"Names: "}},
		{"order", fixtures + "rna8.fastq", record.Options{OrderAny: true}, []string{"The original order "}},
		{"sequences", fixtures + "rna8.fastq", record.Options{ReadsOnly: true, OrderAny: true},
			[]string{"Qualities: ", "Names: ", "The original order "}},
		{"FASTA", fasta, record.Options{}, []string{"Qualities of read 1: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := figuresOf(t, archiveOf(t, c.o, c.file), 1)
			if len(f.Unknown) != len(c.want) {
				t.Fatalf("%q, want %q", f.Unknown, c.want)
			}
			var page bytes.Buffer
			if err := f.Page(&page, "test"); err != nil {
				t.Fatal(err)
			}
			for i, text := range c.want {
				if !strings.HasPrefix(f.Unknown[i], text) || !strings.Contains(page.String(), "<li>"+text) {
					t.Errorf("%q, want %q, in the page as well", f.Unknown[i], text)
				}
			}
			hasQuals := !slices.ContainsFunc(c.want, func(s string) bool { return strings.HasPrefix(s, "Qualities") })
			if strings.Contains(page.String(), "Qualities by cycle") != hasQuals || (f.Reads[0].Qualities != nil) != hasQuals {
				t.Error("qualities are shown though there are none, or the other way round")
			}
			if named := f.Archive.Names == "keep"; named != (len(f.Reads[0].Names) > 0) {
				t.Error("names are shown though there are none, or the other way round")
			}
		})
	}
}

// TestDamaged: of a damaged archive what is whole is counted, and the page says so.
func TestDamaged(t *testing.T) {
	e := archiveOf(t, record.Options{}, fixtures+"rna8.fastq")
	data, err := os.ReadFile(e.Path() + ".cdna")
	if err != nil {
		t.Fatal(err)
	}
	data = codectest.WithoutParity(data)
	data[len(data)/2] ^= 1
	if err := os.WriteFile(e.Path()+".cdna", data, 0o666); err != nil {
		t.Fatal(err)
	}
	f := figuresOf(t, e, 2)
	var page bytes.Buffer
	if err := f.Page(&page, "test"); err != nil {
		t.Fatal(err)
	}
	if f.Verification.OK || !strings.Contains(page.String(), "This archive is damaged") ||
		strings.Contains(page.String(), "Everything in this") {
		t.Errorf("%+v", f.Verification)
	}
}
