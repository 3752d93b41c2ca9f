package sidefiles

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"orcomgo/internal/testrun"
)

// kindsOfFiles append a line or a part of a file as runs have them beside their reads.
var kindsOfFiles = map[string]func(dst []byte, i int, r *rand.Rand) []byte{
	"log": func(dst []byte, i int, r *rand.Rand) []byte {
		return fmt.Appendf(dst, "%02d:%02d:%02d [INFO] lane %d: %d clusters passed\n", i/3600, i/60%60, i%60, r.Intn(8), r.Intn(1e6))
	},
	"bed": func(dst []byte, i int, r *rand.Rand) []byte {
		return fmt.Appendf(dst, "chr%d\t%d\t%d\n", 1+i/100, i*1000+r.Intn(500), i*1000+500+r.Intn(500))
	},
	"gff": func(dst []byte, i int, r *rand.Rand) []byte {
		at := i*700 + r.Intn(300)
		return fmt.Appendf(dst, "chr%d\tEnsembl\t%s\t%d\t%d\t.\t%c\t.\tID=gene%05d;Name=abc%d\n",
			1+i/200, []string{"gene", "exon", "CDS"}[i%3], at, at+r.Intn(400), "+-"[r.Intn(2)], i/3, r.Intn(90))
	},
	"vcf": func(dst []byte, i int, r *rand.Rand) []byte {
		return fmt.Appendf(dst, "chr1\t%d\t.\t%c\t%c\t%.2f\tPASS\tDP=%d;AF=%.3f\tGT\t0/1\n",
			i*311+r.Intn(300), "ACGT"[r.Intn(4)], "ACGT"[r.Intn(4)], 30+30*r.Float64(), r.Intn(90), r.Float64())
	},
	"tsv": func(dst []byte, i int, r *rand.Rand) []byte {
		length := 200 + r.Intn(3000)
		return fmt.Appendf(dst, "T%05d\t%d\t%.3f\t%d\n", i, length, float64(length)-194.55, r.Intn(1000))
	},
	"json": func(dst []byte, i int, r *rand.Rand) []byte {
		return fmt.Appendf(dst, "{\n  \"cycle\": %d,\n  \"yield\": %d,\n  \"q30\": %.4f\n},\n", i, r.Intn(1e7), r.Float64())
	},
	"xml": func(dst []byte, i int, r *rand.Rand) []byte {
		return fmt.Appendf(dst, "    <Read Number=\"%d\" NumCycles=\"%d\" IsIndexedRead=\"%c\" />\n", i, r.Intn(302), "NY"[r.Intn(2)])
	},
	"html": func(dst []byte, i int, r *rand.Rand) []byte {
		image := make([]byte, 900)
		r.Read(image)
		return fmt.Appendf(dst, "<div class=\"module\"><h2 id=\"M%d\"><img src=\"data:image/png;base64,%s\"></h2></div>\n", i,
			base64.StdEncoding.EncodeToString(image))
	},
	"png": func(dst []byte, i int, r *rand.Rand) []byte {
		chunk := make([]byte, 90)
		r.Read(chunk)
		return append(append(dst, "\x89PNG\r\n\x1a\n"[8*min(i, 1):]...), chunk...)
	},
	"bin": func(dst []byte, i int, r *rand.Rand) []byte {
		return append(dst, 1, byte(i/50), byte(i%50), 0, byte(r.Intn(256)), byte(r.Intn(4)), 0, 0, byte(r.NormFloat64()*9+100))
	},
}

// TestFloor: no file takes more than xz -9e and 40 bytes, whatever it is, and all come back.
func TestFloor(t *testing.T) {
	xz, err := exec.LookPath("xz")
	if err != nil {
		t.Skip("xz is not installed")
	}
	for i, a := range generatedArrays() {
		if i%testrun.Pick(29, 13, 1) == 0 {
			checkFloor(t, xz, a)
		}
	}
	for kind, line := range kindsOfFiles {
		for _, lines := range []int{1, testrun.Pick(60, 120, 3000)} {
			r, a := rand.New(rand.NewSource(int64(lines))), namedArray{name: fmt.Sprintf("%s, %d lines", kind, lines)}
			for i := range lines {
				a.file = line(a.file, i, r)
			}
			checkFloor(t, xz, a)
		}
	}
}

// TestFloorOfRealFiles is TestFloor for the files of real runs.
func TestFloorOfRealFiles(t *testing.T) {
	testrun.OnlyLong(t)
	xz, err := exec.LookPath("xz")
	if err != nil {
		t.Skip("xz is not installed")
	}
	for _, dir := range []string{"runfolder", "arrays"} {
		err := filepath.WalkDir(filepath.Join(testrun.Data(t), dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			file, err := os.ReadFile(path)
			checkFloor(t, xz, namedArray{filepath.Base(path), file})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFloorOfDirectories: small files of one kind take less than 0.95 of xz -9e of all of them, one after another.
func TestFloorOfDirectories(t *testing.T) {
	xz, err := exec.LookPath("xz")
	if err != nil {
		t.Skip("xz is not installed")
	}
	for kind, line := range kindsOfFiles {
		if kind == "html" || kind == "png" { // noise
			continue
		}
		r, list, all := rand.New(rand.NewSource(1)), []File(nil), []byte(nil)
		for n := range 40 {
			var file []byte
			for i := range 12 + r.Intn(9) {
				file = line(file, i, r)
			}
			list, all = append(list, inMemory(fmt.Sprintf("%s%02d", kind, n), file)), append(all, file...)
		}
		size, other := len(encode(t, list, Options{Threads: 1})), xzSize(t, xz, all)
		t.Logf("%s: %d bytes, xz -9e %d", kind, size, other)
		if size*100 > other*95 {
			t.Errorf("%s: %d bytes, xz -9e %d", kind, size, other)
		}
	}
}

// xzSize returns the bytes that xz -9e takes for a text.
func xzSize(t *testing.T, xz string, text []byte) int {
	t.Helper()
	c := exec.Command(xz, "-9ec")
	c.Stdin = bytes.NewReader(text)
	coded, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return len(coded)
}

// checkFloor codes a file, and fails the test if that takes more than xz -9e and 40 bytes, or does not come back.
func checkFloor(t *testing.T, xz string, a namedArray) {
	t.Helper()
	stream := encode(t, []File{inMemory("file", a.file)}, Options{Threads: 1})
	z, err := open(stream, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := z.WriteFile(context.Background(), &got, 0); err != nil || !bytes.Equal(got.Bytes(), a.file) {
		t.Errorf("%s: %d bytes come back, %v", a.name, got.Len(), err)
	}
	other := xzSize(t, xz, a.file)
	t.Logf("%-55s %7d bytes: %7d, xz -9e %7d", a.name, len(a.file), len(stream), other)
	if len(stream) > other+40 {
		t.Errorf("%s: %d bytes, xz -9e %d", a.name, len(stream), other)
	}
}
