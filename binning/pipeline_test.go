package binning

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"

	"orcomgo/bins"
	"orcomgo/bins/commit"
)

// files returns the content of the two files of an archive.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%s: %d files (%v)", dir, len(entries), err)
	}
	m := make(map[string]string)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		m[e.Name()] = string(data)
	}
	return m
}

func sameFiles(a, b map[string]string) bool {
	for name, data := range a {
		if b[name] != data {
			return false
		}
	}
	return len(a) == len(b)
}

// TestSameBytes: threads, streams, compression and the way the input arrives make no
// difference to an archive.
func TestSameBytes(t *testing.T) {
	reads := 3000
	if testrun.Short() {
		reads = 1000
	}
	fixed, mixed := simulate(1, reads, 80, 80, "1"), simulate(2, reads, 0, 150, "1")
	texts := []testInput{{"a.fastq", fixed}, {"b.fastq", mixed}}
	for _, size := range []uint64{1 << 16, 300_001, 0} {
		if size != 1<<16 && testrun.Short() {
			continue
		}
		options := record.Options{BlockSize: size}
		dir, err := binTexts(t, Config{Threads: 1, Streams: 1, Options: options}, texts...)
		if err != nil {
			t.Fatal(err)
		}
		want := files(t, dir)
		if got := restore(t, dir); !bytes.Equal(got[0], fixed) || !bytes.Equal(got[1], mixed) {
			t.Errorf("block size %d: the text differs", size)
		}
		for _, tt := range []struct {
			name             string
			threads, streams int
			inputs           []testInput
		}{
			{"3 threads", 3, 1, texts},
			{"4 streams", 1, 4, texts},
			{"3 threads, 3 streams", 3, 3, texts},
			{"gzip", 2, 2, []testInput{{"a.fastq.gz", gzipped(fixed, 1)}, {"b.fastq.gz", gzipped(mixed, 5)}}},
			{"bgzip", 2, 2, []testInput{{"a.fastq.bgz", bgzipped(fixed)}, {"b.fastq.gz", bgzipped(mixed)}}},
			{"bgzip, then gzip", 2, 2, []testInput{{"a.fastq.bgzf", append(bgzipped(fixed[:99999]), gzipped(fixed[99999:], 2)...)}, texts[1]}},
			{"zstd", 2, 2, []testInput{{"a.fastq.zst", zstdCompressed(fixed)}, {"b.fastq", zstdCompressed(mixed)}}},
			{"two zstd frames", 2, 2, []testInput{{"a.fastq.zst", append(zstdCompressed(fixed[:7777]), zstdCompressed(fixed[7777:])...)}, texts[1]}},
		} {
			dir, err := binTexts(t, Config{Threads: tt.threads, Streams: tt.streams, Options: options}, tt.inputs...)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if !sameFiles(files(t, dir), want) {
				t.Errorf("block size %d: %s: the archive differs", size, tt.name)
			}
		}
	}
}

// TestBlockEnds puts the end of a block at every place of a record, plain and compressed.
func TestBlockEnds(t *testing.T) {
	testrun.NoRace(t)
	text := []byte("@a\nACGT\n+\nIIII\n@bcd\nACGTA\n+\n@+IIA\n@e\n\n+\n\n@f\nACG\n+\nIII\n\n\n\n\n\n")
	for size := uint64(1); size <= uint64(len(text))+2; size++ {
		c := Config{Options: record.Options{BlockSize: size}}
		dir, err := binTexts(t, c, testInput{"x", text})
		if err != nil {
			t.Fatal(err)
		}
		if got := restore(t, dir)[0]; !bytes.Equal(got, text) {
			t.Errorf("block size %d: got %q", size, got)
		}
		zipped, err := binTexts(t, c, testInput{"x", gzipped(text, 3)})
		if err != nil {
			t.Fatal(err)
		}
		if !sameFiles(files(t, dir), files(t, zipped)) {
			t.Errorf("block size %d: gzip makes a difference", size)
		}
	}
}

func TestStdin(t *testing.T) {
	text := simulate(3, 500, 50, 60, "1")
	for _, tt := range []struct {
		name, file string
		data, want []byte
	}{
		{"plain", "stdin.fastq", text, text},
		{"gzip", "stdin.fastq", gzipped(text, 2), text},
		{"FASTA", "stdin.fasta", []byte(">a\nACGT\nAC\n"), []byte(">a\nACGT\nAC\n")},
		{"wrapped", "stdin.fastq", []byte("@a\nACGT\nAC\n+\nIIII\nII\n"), []byte("@a\nACGT\nAC\n+\nIIII\nII\n")},
		{"empty", "stdin.fastq", nil, nil},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		s, err := Run(context.Background(), Config{Inputs: []InputSpec{{Path: "-", Mate: -1}}, OutDir: dir,
			Stdin: iotest.OneByteReader(bytes.NewReader(tt.data))})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if s.Inputs[0].Name != tt.file || s.SourceBytes != uint64(len(tt.data)) {
			t.Errorf("%s: summary %+v", tt.name, s)
		}
		if got := restore(t, dir)[0]; !bytes.Equal(got, tt.want) {
			t.Errorf("%s: the text differs", tt.name)
		}
	}
}

var pairOf = []InputSpec{{Mate: 1, First: true}, {Mate: 0}}

func TestPairs(t *testing.T) {
	one, two := simulate(5, 2000, 100, 100, "1"), simulate(6, 2000, 20, 30, "2")
	var few []byte // the first 1,500 records
	for i, n := 0, 0; n < 6000; i++ {
		if one[i] == '\n' {
			n++
			few = one[:i+1]
		}
	}
	other := bytes.Replace(two, []byte("@RUN:1:16:1600 "), []byte("@RUN:1:16:160x "), 1)
	for _, tt := range []struct {
		name     string
		one, two []byte
		want     string
	}{
		{"well", one, two, ""},
		{"with /1 and /2", []byte("@a/1\nA\n+\nI\n@b/1 x\nA\n+\nI\n"), []byte("@a/2\nA\n+\nI\n@b/2 y\nA\n+\nI\n"), ""},
		{"fewer in the first", few, two, "1.fq: record 1501: expected a mate of record 1501 of 2.fq, found the end of the file"},
		{"fewer in the second", two, few, "2.fq: record 1501: expected a mate of record 1501 of 1.fq, found the end of the file"},
		{"none in the second", two, nil, "2.fq: record 1: expected a mate of record 1 of 1.fq, found the end of the file"},
		{"of another kind", one, []byte(">a\nACGT\n"), "2.fq: expected FASTQ, as the mates in 1.fq are, found FASTA"},
		{"another name", one, other, "2.fq: record 1601: expected the mate of record 1601 of 1.fq, found another name: " +
			`"RUN:1:16:160x 2:N:0:ACGT", not "RUN:1:16:1600 1:N:0:ACGT"`},
	} {
		for _, o := range []record.Options{{BlockSize: 25000}, {}, {ReadsOnly: true, BlockSize: 25000}, {DropNames: true}} {
			if testrun.Race && o.BlockSize == 0 {
				continue
			}
			c := Config{Threads: 2, Streams: 3, Options: o, Inputs: append([]InputSpec{}, pairOf...)}
			dir, err := binTexts(t, c, testInput{"1.fq", tt.one}, testInput{"2.fq", tt.two})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%s, %+v: error is %q, want %q", tt.name, o, got, tt.want)
			}
			if err == nil && !o.ReadsOnly && !o.DropNames {
				if texts := restore(t, dir); !bytes.Equal(texts[0], tt.one) || !bytes.Equal(texts[1], tt.two) {
					t.Errorf("%s: the text differs", tt.name)
				}
			}
		}
	}
}

// TestLessKept looks at what the options leave out.
func TestLessKept(t *testing.T) {
	text := []byte("@a\nACGTN\n+a\n!\"&0~\n@b\nAC\n+\nIJ")
	for _, tt := range []struct {
		name string
		o    record.Options
		want string
	}{
		{"reads only", record.Options{ReadsOnly: true}, "ACGTN\nAC\n"},
		{"no names", record.Options{DropNames: true}, "@\nACGTN\n+\n!\"&0~\n@\nAC\n+\nIJ"},
		{"eight levels", record.Options{Quality: record.QualityBin8}, "@a\nACGTN\n+a\n!\"'0I\n@b\nAC\n+\nII"},
		{"no qualities", record.Options{Quality: record.QualityDrop}, "@a\nACGTN\n+a\n\n@b\nAC\n+\n"},
	} {
		dir, err := binTexts(t, Config{Options: tt.o}, testInput{"x", text})
		if err != nil {
			t.Fatal(err)
		}
		if got := restore(t, dir)[0]; string(got) != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestForce(t *testing.T) {
	dir := t.TempDir()
	path, out := filepath.Join(dir, "a.fastq"), filepath.Join(dir, "out")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(force bool) error {
		_, err := Run(context.Background(), Config{Inputs: []InputSpec{{Path: path, Mate: -1}}, OutDir: out, Force: force})
		return err
	}
	write("@a\nA\n+\nI\n")
	if err := run(false); err != nil {
		t.Fatal(err)
	}
	before := files(t, out)
	if err := run(false); !errors.Is(err, commit.ErrExists) {
		t.Errorf("over an archive: %v", err)
	}
	write("@a\nA\n+\n")
	if err := run(true); err == nil || !sameFiles(files(t, out), before) {
		t.Errorf("a failed run with force: %v, or the old archive changed", err)
	}
	write("@b\nC\n+\nI\n")
	if err := run(true); err != nil {
		t.Fatal(err)
	}
	if got := restore(t, out)[0]; string(got) != "@b\nC\n+\nI\n" {
		t.Errorf("got %q", got)
	}
}

func TestProgressAndMemory(t *testing.T) {
	text := simulate(8, 5000, 100, 100, "1")
	var last, total atomic.Uint64
	c := Config{Options: record.Options{BlockSize: 100_000}, Streams: 9, Memory: memoryBase + memoryPerInput + 500_000,
		Progress: func(_ string, done, of uint64) {
			for old := last.Load(); done > old && !last.CompareAndSwap(old, done); old = last.Load() {
			}
			total.Store(of)
		}}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.fastq")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	c.Inputs, c.OutDir = []InputSpec{{Path: path, Mate: -1}}, filepath.Join(dir, "out")
	s, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if s.Streams != 2 || s.Records != 5000 || s.Bases != 500_000 || s.TextBytes != uint64(len(text)) {
		t.Errorf("summary %+v", s)
	}
	if last.Load() != uint64(len(text)) || total.Load() != uint64(len(text)) {
		t.Errorf("progress ended with %d of %d", last.Load(), total.Load())
	}
	c.Memory, c.Force = 1<<20, true
	const want = "blocks of 100000 bytes need about 27 MB of memory, and 1 MB are allowed"
	if _, err := Run(context.Background(), c); err == nil || err.Error() != want {
		t.Errorf("too little memory: %v", err)
	}
}

func TestNames(t *testing.T) {
	for path, want := range map[string]string{"d/a.fastq.gz": "a.fastq a", "a.fq": "a.fq a", "x.fna.bgz": "x.fna x",
		"run.1.zst": "run.1 run.1", ".gz": ".gz .gz", "a.fa.gz.gz": "a.fa.gz a.fa.gz", "-": "stdin.fastq stdin"} {
		name := inputName(path, record.FASTQ)
		if got := name + " " + archiveName(name); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestSignatures compares the table with a count of the reads.
func TestSignatures(t *testing.T) {
	text := []byte("@a\nACGTACGTACGTACGTACGT\n+\nIIIIIIIIIIIIIIIIIIII\n@b\nACG\n+\nIII\n" +
		"@c\nTTGTTGTTGTTGTTGTTGTTGTTG\n+\nIIIIIIIIIIIIIIIIIIIIIIII\n@d\nA\n+\nI\n")
	dir, err := binTexts(t, Config{Options: record.Options{BlockSize: 60}}, testInput{"x", text}, testInput{"y", text})
	if err != nil {
		t.Fatal(err)
	}
	r, err := bins.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b strings.Builder
	if err := Signatures(r, &b); err != nil {
		t.Fatal(err)
	}
	if want := "AACAACAA\t2\t48\nACGTACGT\t2\t40\nN\t4\t8\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// TestRealFiles takes every file of the collection through stage 1 and back.
func TestRealFiles(t *testing.T) {
	for _, path := range realFiles(t, "*.fastq.gz") {
		if info, err := os.Stat(path); err != nil || testrun.Short() && info.Size() > 2<<20 || info.Size() > 8<<20 {
			continue // the large ones are much alike
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := binTexts(t, Config{Threads: 2, Options: record.Options{BlockSize: 3_000_000}}, testInput{filepath.Base(path), data})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(restore(t, dir)[0], gunzip(t, data)) {
			t.Errorf("%s: the text differs", path)
		}
	}
}

// TestKeepNames: names that are dropped are needed in plain where there are mates, and never coded.
func TestKeepNames(t *testing.T) {
	single, pair := []InputSpec{{Mate: -1}}, []InputSpec{{Mate: 1, First: true}, {Mate: 0}}
	for _, c := range []struct {
		inputs       []InputSpec
		options      record.Options
		names, plain bool
	}{
		{single, record.Options{}, true, false},
		{single, record.Options{DropNames: true}, false, false},
		{pair, record.Options{}, true, true},
		{pair, record.Options{DropNames: true}, false, true},
		{pair, record.Options{ReadsOnly: true}, false, true},
	} {
		k := (&Config{Inputs: c.inputs, Options: c.options}).keep()
		if k.Names != c.names || k.PlainNames != c.plain {
			t.Errorf("%d inputs, %+v: names %v, in plain %v", len(c.inputs), c.options, k.Names, k.PlainNames)
		}
	}
}
