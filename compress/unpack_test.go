package compress

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/internal/testrun"
)

// states returns a directory with bins and one with the packed archive of the same inputs.
func states(t testing.TB, ins []input, o record.Options) map[string]string {
	a, b := binTo(t, ins, o), binTo(t, ins, o)
	packTo(t, b, PackOptions{Threads: 2})
	return map[string]string{"bins": a, "packed": b}
}

func stream(t testing.TB, dir string, o UnpackOptions) string {
	t.Helper()
	var out bytes.Buffer
	o.Stream, o.Threads = &out, 2
	if _, err := Unpack(context.Background(), dir, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func gunzip(t testing.TB, s string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestStream(t *testing.T) {
	smallSlices(t)
	r1, r2 := simulated(41, testrun.Pick(200, 500, 700), true)
	ins := append(pair(r1, r2), input{"x.fastq", "@x\nA\n+\nI", -1, false}, input{"e.fastq", "", -1, false})
	keep := record.Options{}
	mates := strings.Join(interleaved(expected(r1, keep), expected(r2, keep)), "")
	for state, dir := range states(t, ins, record.Options{BlockSize: 20 << 10}) {
		if got := stream(t, dir, UnpackOptions{}); got != r1+r2+"@x\nA\n+\nI" {
			t.Errorf("%s: %d bytes on the stream", state, len(got))
		}
		if got := stream(t, dir, UnpackOptions{Interleave: true}); got != mates+"@x\nA\n+\nI" {
			t.Errorf("%s: %d bytes on the stream, interleaved", state, len(got))
		}
		if got := gunzip(t, stream(t, dir, UnpackOptions{Interleave: true, Gzip: true})); got != mates+"@x\nA\n+\nI" {
			t.Errorf("%s: %d bytes on the stream, interleaved and compressed", state, len(got))
		}
		got := unpackAll(t, dir, UnpackOptions{Threads: 2, Gzip: true})
		for _, in := range ins {
			z, ok := got[in.name+".gz"]
			if !ok || gunzip(t, z) != in.text {
				t.Errorf("%s: %s.gz is missing or differs", state, in.name)
			}
		}
	}
}

func interleaved(a, b []string) []string {
	var out []string
	for i := range a {
		out = append(out, a[i], b[i])
	}
	return out
}

func TestRecords(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(42, 600, true)
	_, v := simulated(43, 90, false)
	ins := append(pair(r1, r2), input{"v.fastq", v, -1, false})
	keep := record.Options{}
	a, b, c := expected(r1, keep), expected(r2, keep), expected(v, keep)
	cut := func(s []string, r RecordRange) string {
		return strings.Join(s[min(int(r.From), len(s)):min(int(r.To), len(s))], "")
	}
	for state, dir := range states(t, ins, record.Options{BlockSize: 64 << 10}) {
		for _, r := range []RecordRange{{From: 0, To: 1}, {From: 0, To: 600}, {From: 89, To: 91}, {From: 100, To: 350},
			{From: 599, To: 600}, {From: 250, To: 9999}, {From: 90, To: 110}} {
			want := cut(a, r) + cut(b, r) + cut(c, r)
			if got := stream(t, dir, UnpackOptions{Records: &r}); got != want {
				t.Errorf("%s: records %v: %d bytes, want %d", state, r, len(got), len(want))
			}
		}
		r := RecordRange{From: 100, To: 103}
		got, want := stream(t, dir, UnpackOptions{Records: &r, Interleave: true}), strings.Join(interleaved(a[100:103], b[100:103]), "")
		if got != want {
			t.Errorf("%s: interleaved records: %q, want %q", state, got, want)
		}
		sameFiles(
			t,
			unpackAll(t, dir, UnpackOptions{Records: &r}),
			map[string]string{"r_1.101-103.fastq": cut(a, r), "r_2.101-103.fastq": cut(b, r)},
		)
		r = RecordRange{From: 80, To: 9999}
		sameFiles(t, unpackAll(t, dir, UnpackOptions{Records: &r}), map[string]string{
			"r_1.81-600.fastq": cut(a, r), "r_2.81-600.fastq": cut(b, r), "v.81-90.fastq": cut(c, r)})
		_, err := Unpack(context.Background(), dir, UnpackOptions{Stream: io.Discard, Records: &RecordRange{From: 600, To: 700}})
		if err == nil || !strings.Contains(err.Error(), "601") {
			t.Errorf("%s: a record beyond the end: %v", state, err)
		}
	}
}

// TestRecordsReadOnlyTheirSlices damages a slice that is not asked for.
func TestRecordsReadOnlyTheirSlices(t *testing.T) {
	smallSlices(t)
	r1, _ := simulated(44, 400, false)
	dir := binTo(t, single("x.fastq", r1), record.Options{})
	packTo(t, dir, PackOptions{})
	r, err := archive.OpenEntry(entryOf(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	man := r.Manifest()
	last := man.Slices[len(man.Slices)-1]
	damage(t, filepath.Join(dir, "x.cdna"), int64(last.Seqs.Off)+2, 1)
	got := stream(t, dir, UnpackOptions{Records: &RecordRange{From: 0, To: 5}})
	if got != strings.Join(expected(r1, record.Options{})[:5], "") {
		t.Error("other records come back")
	}
	_, err = Unpack(context.Background(), dir, UnpackOptions{Stream: io.Discard, Records: &RecordRange{From: 399, To: 400}})
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "sequences of records") ||
		!strings.Contains(err.Error(), "x.fastq") {
		t.Errorf("error %v", err)
	}
}

func TestOverwrite(t *testing.T) {
	text := "@a\nA\n+\nI\n"
	for state, dir := range states(t, []input{{"x.fastq", text, -1, false}, {"y.fastq", text, -1, false}}, record.Options{}) {
		out := t.TempDir()
		there := filepath.Join(out, "y.fastq")
		if err := os.WriteFile(there, []byte("precious"), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Unpack(context.Background(), dir, UnpackOptions{OutDir: out})
		if !errors.Is(err, ErrFileExists) || !strings.Contains(err.Error(), "y.fastq") {
			t.Errorf("%s: error %v", state, err)
		}
		sameFiles(t, filesIn(t, out), map[string]string{"y.fastq": "precious"})
		if _, err := Unpack(context.Background(), dir, UnpackOptions{OutDir: out, Force: true}); err != nil {
			t.Errorf("%s: %v", state, err)
		}
		sameFiles(t, filesIn(t, out), map[string]string{"x.fastq": text, "y.fastq": text})
	}
}

func TestUnpackUsage(t *testing.T) {
	dir := binTo(t, single("x.fastq", "@a\nA\n+\nI\n"), record.Options{})
	for _, o := range []UnpackOptions{{}, {OutDir: "x", Stream: io.Discard}, {Stream: io.Discard, Split: 5}, {OutDir: "x", Mate: 3},
		{OutDir: "x", Mate: 1, Interleave: true}, {OutDir: "x", Inputs: []string{"["}},
		{Stream: io.Discard, Records: &RecordRange{From: 3, To: 3}}} {
		if _, err := Unpack(context.Background(), dir, o); err == nil {
			t.Errorf("%+v passed", o)
		}
	}
	empty := t.TempDir()
	for _, d := range []string{empty, filepath.Join(empty, "none")} {
		if _, err := Unpack(context.Background(), d, UnpackOptions{Stream: io.Discard}); !errors.Is(err, ErrNotArchive) {
			t.Errorf("unpack: %v", err)
		}
		if _, err := verifyPath(context.Background(), d, VerifyOptions{}); !errors.Is(err, ErrNotArchive) {
			t.Errorf("verify: %v", err)
		}
		if _, err := infoOf(d); !errors.Is(err, ErrNotArchive) {
			t.Errorf("info: %v", err)
		}
		if _, err := Pack(context.Background(), d, limited(PackOptions{})); !errors.Is(err, ErrNotArchive) {
			t.Errorf("pack: %v", err)
		}
	}
}

// TestUnpackCancelled: nothing is left behind.
func TestUnpackCancelled(t *testing.T) {
	smallSlices(t)
	r1, r2 := simulated(45, 200, false)
	for state, dir := range states(t, pair(r1, r2), record.Options{}) {
		ctx, cancel := context.WithCancel(context.Background())
		out := t.TempDir()
		stop := func(stage string, done, total uint64) {
			if done > 0 {
				cancel()
			}
		}
		if _, err := Unpack(ctx, dir, UnpackOptions{OutDir: out, Progress: stop}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", state, err)
		}
		if left := filesIn(t, out); len(left) != 0 {
			t.Errorf("%s: %d files left", state, len(left))
		}
	}
}

type failingWriter struct{ left int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errors.New("no space")
	}
	return len(b), nil
}

func TestUnpackWriteError(t *testing.T) {
	smallSlices(t)
	r1, _ := simulated(46, 300, false)
	for state, dir := range states(t, single("x.fastq", r1), record.Options{}) {
		_, err := Unpack(context.Background(), dir, UnpackOptions{Threads: 2, Stream: &failingWriter{50_000}})
		if err == nil || err.Error() != "no space" {
			t.Errorf("%s: error %v", state, err)
		}
	}
}
