package compress

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/packing"
)

// input is a file of a test.
type input struct {
	name, text string
	mate       int // index of the mates; -1: none; furtherOf(i): it has further mates of input i
	first      bool
}

// furtherOf returns the mate of an input that has further mates of another one.
func furtherOf(lead int) int { return -2 - lead }

// stored is how the inputs of a test are stored, and what is recorded of their files.
type stored struct {
	record binning.RecordMode
	gzip   []string // names of inputs that are in members of gzip, uncompressed there
}

// fileTime is the time of the files of inputs.
var fileTime = time.Unix(1_700_000_000, 123_456_789)

func single(name, text string) []input { return []input{{name, text, -1, false}} }

func pair(r1, r2 string) []input {
	return []input{{"r_1.fastq", r1, 1, true}, {"r_2.fastq", r2, 0, false}}
}

// binTo bins inputs into a new directory and returns it. Nothing is recorded of their files.
func binTo(t testing.TB, ins []input, o record.Options) string {
	t.Helper()
	return binStored(t, ins, o, stored{})
}

// binStored is binTo of files that are stored as s says.
func binStored(t testing.TB, ins []input, o record.Options, s stored) string {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	c := binning.Config{OutDir: out, Options: o, Record: s.record, Threads: 2, Streams: 1}
	if o.BlockSize == 0 {
		c.Options.BlockSize = 1 << 20
	}
	for _, in := range ins {
		path, text := filepath.Join(dir, in.name), in.text
		if slices.Contains(s.gzip, in.name) {
			path, text = path+".gz", storedGzip(t, text)
		} else if strings.HasSuffix(in.name, ".bam") {
			text = storedGzip(t, text)
		}
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o666), os.Chtimes(path, fileTime, fileTime)); err != nil {
			t.Fatal(err)
		}
		spec := binning.InputSpec{Path: path, Mate: in.mate, First: in.first}
		if in.mate < -1 {
			spec = binning.InputSpec{Path: path, Mate: -1, Further: true, Lead: furtherOf(in.mate)}
		}
		c.Inputs = append(c.Inputs, spec)
	}
	if _, err := binning.Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	return out
}

// storedGzip returns a member of gzip with the text as it is, so that the bytes don't depend on a compressor.
func storedGzip(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func packTo(t testing.TB, dir string, o PackOptions) *Summary {
	t.Helper()
	s, err := Pack(context.Background(), dir, limited(o))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// unpackAll restores the archive and returns the files by name.
func unpackAll(t testing.TB, dir string, o UnpackOptions) map[string]string {
	t.Helper()
	o.OutDir = t.TempDir()
	if _, err := Unpack(context.Background(), dir, o); err != nil {
		t.Fatal(err)
	}
	return filesIn(t, o.OutDir)
}

func filesIn(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	return files
}

func verifyOK(t testing.TB, dir, checked string) {
	t.Helper()
	status, err := verifyPath(context.Background(), dir, VerifyOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range status {
		if !s.OK || s.Checked != checked {
			t.Errorf("verify: %+v, want OK by %s", s, checked)
		}
	}
}

// smallSlices cuts slices small enough that little inputs have several.
func smallSlices(t testing.TB) {
	setLimits(t, func(l *packing.Limits) { l.Text, l.Reads = 20_000, 150 })
}

// manyThreads is the number of threads from which on packing hashes texts early.
const manyThreads = 8

// limits are those by which tests pack; nil: the usual ones.
var limits *packing.Limits

// setLimits changes them until the test ends.
func setLimits(t testing.TB, change func(l *packing.Limits)) {
	was := limits
	own := *cmp.Or(limits, &packing.UsualLimits)
	change(&own)
	limits = &own
	t.Cleanup(func() { limits = was })
}

// limited returns o with the limits of tests.
func limited(o PackOptions) PackOptions {
	o.Limits = limits
	return o
}

// simulated returns reads of a random genome, as mates: CASAVA names, N, errors.
func simulated(seed int64, n int, varied bool) (r1, r2 string) {
	rng := rand.New(rand.NewSource(seed))
	genome := make([]byte, 5000)
	for i := range genome {
		genome[i] = "ACGT"[rng.Intn(4)]
	}
	var out [2]strings.Builder
	for i := range n {
		at, y := rng.Intn(len(genome)-300), rng.Intn(9)+i*13
		for m := range out {
			l := 100
			if varied {
				l = 30 + rng.Intn(71)
			}
			seq := bytes.Clone(genome[at : at+l])
			if m == 1 {
				seq = bytes.Clone(genome[at+300-l : at+300])
				slices.Reverse(seq)
				for j, b := range seq {
					seq[j] = "TGCA"[strings.IndexByte("ACGT", b)]
				}
			}
			qual := make([]byte, l)
			for j := range qual {
				qual[j] = byte(33 + 2 + rng.Intn(38))
				switch rng.Intn(200) {
				case 0:
					seq[j], qual[j] = 'N', '#'
				case 1:
					seq[j] = "ACGT"[rng.Intn(4)]
				}
			}
			fmt.Fprintf(&out[m], "@M01:7:FC:1:%d:%d:%d %d:N:0:1\n%s\n+\n%s\n", 1100+i/50, y, i%997, m+1, seq, qual)
		}
	}
	return out[0].String(), out[1].String()
}

func oddities() map[string][]input {
	rng := rand.New(rand.NewSource(5))
	bases := func(n int, alphabet string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[rng.Intn(len(alphabet))]
		}
		return string(b)
	}
	all := make([]byte, 0, 94)
	for q := byte(33); q <= 126; q++ {
		all = append(all, q)
	}
	wrapped := "@w\nACGTAC\nGTNNAC\nGT\n+\nIIIIII\n@+!III\nII\n@v\nAC\n+v\n@@\n"
	var mixed, same strings.Builder
	for i := range 300 {
		n := rng.Intn(120)
		fmt.Fprintf(&mixed, "@m%d\n%s\n+\n%s\n", i, bases(n, "ACGT"), bases(n, "FFF:,#"))
		fmt.Fprintf(&same, "@SRR1.%d %d length=36\n%s\n+SRR1.%d %d length=36\n%s\n", i, i, bases(36, "ACGT"), i, i, bases(36, "IIIIH5"))
	}
	fasta := ">c1 first\n"
	for range 20 {
		fasta += bases(60, "ACGTacgtN") + "\n"
	}
	fasta += bases(17, "ACGT") + "\n>c2\n>c3\n" + bases(60, "acgtn") + "\n" + bases(3, "ACGT")
	cases := map[string]string{
		"empty":              "",
		"one":                "@a\nACGT\n+\nIIII\n",
		"no last newline":    "@a\nACGT\n+\nIIII\n@b\nAC\n+\nII",
		"CRLF":               "@a\r\nACGT\r\n+\r\nIIII\r\n@b\r\nAC\r\n+\r\nII\r\n",
		"mixed line ends":    "@a\r\nACGT\n+\r\nIIII\n@b\nAC\r\n+\nII\r\n",
		"text after plus":    "@a\nACGT\n+a\nIIII\n@b\nAC\n+other\nII\n@c\nA\n+\nI\n",
		"name after plus":    same.String(),
		"empty reads":        "@a\n\n+\n\n@b\n\n+\n\n",
		"empty among others": "@a\nAC\n+\nII\n@b\n\n+\n\n@c\nG\n+\nI\n",
		"one base":           "@a\nA\n+\nI\n@b\nT\n+\nI\n",
		"mixed lengths":      mixed.String(),
		"letters":            "@a\nACGTNRYKMSWBDHVUacgtnuryx.-*\n+\n" + strings.Repeat("I", 28) + "\n",
		"all N":              "@a\nNNNNNNNN\n+\n!!!!!!!!\n@b\nNNNNNNNN\n+\n!!!!!!!!\n",
		"all qualities":      "@a\n" + bases(94, "ACGT") + "\n+\n" + string(all) + "\n",
		"names":              "@\nA\n+\nI\n@\nC\n+\nI\n@ x \t\x01\xff\nG\n+\nI\n@" + strings.Repeat("n", 64<<10) + "\nT\n+\nI\n",
		"long read":          "@l\n" + bases(200_000, "ACGT") + "\n+\n" + bases(200_000, "5;?") + "\n",
		"blank lines at end": "@a\nACGT\n+\nIIII\n\n\n",
		"wrapped":            wrapped,
		"FASTA":              fasta,
		"FASTA one line":     ">x\nACGT\n>y\nGGCA\n",
	}
	out := make(map[string][]input)
	for name, text := range cases {
		ext := ".fastq"
		if strings.HasPrefix(name, "FASTA") {
			ext = ".fa"
		}
		out[name] = single("in"+ext, text)
	}
	r1, r2 := simulated(9, 400, false)
	v1, v2 := simulated(10, 400, true)
	out["pair"] = pair(r1, r2)
	out["pair of mixed lengths"] = pair(v1, v2)
	e1, _ := simulated(11, 400, false)
	_, e2 := simulated(11, 400, true)
	first := parseText(e1)
	for i, f := range parseText(e2) { // the lengths drawn move everything after them
		e2 = strings.Replace(e2, f.name, strings.Replace(first[i].name, " 1:", " 2:", 1), 1)
	}
	out["pair of equal and mixed"] = pair(e1, e2)
	out["empty pair"] = pair("", "")
	out["several"] = []input{
		{"a.fastq", r1, -1, false},
		{"b.fq", mixed.String(), -1, false},
		{"c.fa", fasta, -1, false},
		{"d.fastq", "", -1, false},
		{"e_1.fastq", v1, 5, true},
		{"e_2.fastq", v2, 4, false},
	}
	return out
}

func texts(ins []input) map[string]string {
	m := make(map[string]string)
	for _, in := range ins {
		m[in.name] = in.text
	}
	return m
}

func sameFiles(t testing.TB, got, want map[string]string) {
	t.Helper()
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			t.Errorf("%s is missing; there are %d files", name, len(got))
			continue
		}
		if g != w {
			i := 0
			for i < min(len(g), len(w)) && g[i] == w[i] {
				i++
			}
			t.Errorf("%s: %d bytes, want %d, first difference at %d: %.60q, want %.60q",
				name, len(g), len(w), i, g[max(0, i-20):], w[max(0, i-20):])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

// verifyPath is Verify for the archive that path leads to.
func verifyPath(ctx context.Context, path string, o VerifyOptions) ([]FileStatus, error) {
	e, err := commit.One(path)
	if err != nil {
		return nil, err
	}
	return Verify(ctx, e, o)
}

// infoOf is Info for the archive that path leads to.
func infoOf(path string) (*Information, error) {
	e, err := commit.One(path)
	if err != nil {
		return nil, err
	}
	return Info(e)
}

func fileSize(t testing.TB, path string) int64 {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}
