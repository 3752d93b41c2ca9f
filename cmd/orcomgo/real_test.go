package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"orcomgo/internal/testrun"
)

// realFiles returns the files that match pattern in the folder of real runs, ORCOMGO_DATA, or
// skips the test.
func realFiles(t *testing.T, pattern string) []string {
	t.Helper()
	dir := testrun.Data(t)
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("no %s in ORCOMGO_DATA, %s", pattern, dir)
	}
	return files
}

// inflated returns the text of a file, compressed or not.
func inflated(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.HasPrefix(b, []byte("\x1f\x8b")) {
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err == nil {
			b, err = io.ReadAll(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// roundTrip packs what bin leaves, verifies, unpacks and compares with the originals.
func roundTrip(t *testing.T, archive string, originals map[string][]byte) {
	t.Helper()
	mustRun(t, "verify", "--quiet", archive)
	mustRun(t, "pack", "--quiet", archive)
	mustRun(t, "verify", "--quiet", archive)
	out := filepath.Join(t.TempDir(), "restored")
	mustRun(t, "unpack", "--quiet", archive, "-o", out)
	got := contents(t, out)
	if len(got) != len(originals) {
		t.Errorf("%d files came back of %d", len(got), len(originals))
	}
	for name, want := range originals {
		if !bytes.Equal(got[name], want) {
			t.Errorf("%s came back as %d bytes, want %d, or others", name, len(got[name]), len(want))
		}
	}
}

// The odd files of other projects' test suites are held byte for byte or refused by one
// line that names the file and the record.
func TestOddFiles(t *testing.T) {
	for _, path := range realFiles(t, "odd/*") {
		name := strings.TrimSuffix(filepath.Base(path), ".gz")
		t.Run(name, func(t *testing.T) {
			archive := filepath.Join(t.TempDir(), "archive")
			status, errs := runHere("bin", "--quiet", path, archive)
			if status == 0 {
				roundTrip(t, archive, map[string][]byte{name: inflated(t, path)})
				return
			}
			broken := regexp.MustCompile("^(error|mismatched|broken)_")
			if !broken.MatchString(name) {
				t.Errorf("refused: %s", errs)
			}
			one := regexp.MustCompile(`^orcomgo: .*` + regexp.QuoteMeta(name) + `: record [0-9]+: .*\n$`)
			if status != exitFailure || !one.MatchString(errs) {
				t.Errorf("status %d: %q", status, errs)
			}
			if left, _ := filepath.Glob(filepath.Join(archive, "*")); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			t.Log(strings.TrimSpace(errs))
		})
	}
}

// Real runs come back byte for byte: compressed, plain, from standard input, and as pairs.
func TestLongRealRuns(t *testing.T) {
	testrun.OnlyLong(t)
	for _, path := range realFiles(t, "*.fastq.gz") {
		name := strings.TrimSuffix(filepath.Base(path), ".gz")
		t.Run(name, func(t *testing.T) {
			text, dir := inflated(t, path), t.TempDir()
			fromGzip, fromText, fromStdin := filepath.Join(dir, "gzip"), filepath.Join(dir, "text"), filepath.Join(dir, "stdin")
			// What is recorded of the files differs.
			mustRun(t, "bin", "--quiet", "--source", "none", path, fromGzip)
			plain := filepath.Join(dir, name)
			if err := os.WriteFile(plain, text, 0o666); err != nil {
				t.Fatal(err)
			}
			mustRun(t, "bin", "--quiet", "--source", "none", "-t", "1", "--streams", "1", plain, fromText)
			same(t, contents(t, fromText), contents(t, fromGzip))
			var out bytes.Buffer
			s := &streams{in: bytes.NewReader(text), out: &out, err: &out}
			if status := run(context.Background(), s, []string{"bin", "--quiet", "-", fromStdin}); status != 0 {
				t.Fatalf("from standard input: %s", out.String())
			}
			out.Reset()
			if status := run(context.Background(), s, []string{"unpack", "--quiet", fromStdin, "-o", "-"}); status != 0 ||
				!bytes.Equal(out.Bytes(), text) {
				t.Error("what went in from standard input came back otherwise")
			}
			roundTrip(t, fromGzip, map[string][]byte{name: text})
		})
	}
	for _, r1 := range realFiles(t, "*_R1.fastq.gz") {
		r2 := strings.Replace(r1, "_R1.", "_R2.", 1)
		if _, err := os.Stat(r2); err != nil {
			continue
		}
		name1, name2 := strings.TrimSuffix(filepath.Base(r1), ".gz"), strings.TrimSuffix(filepath.Base(r2), ".gz")
		t.Run(name1+" and mates", func(t *testing.T) {
			archive := filepath.Join(t.TempDir(), "archive")
			mustRun(t, "bin", "--quiet", "-1", r1, "-2", r2, archive)
			roundTrip(t, archive, map[string][]byte{name1: inflated(t, r1), name2: inflated(t, r2)})
		})
	}
}
