package searching

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/packing"
	"orcomgo/compress/source"
	"orcomgo/internal/testrun"
)

// TestWindows: going through the text and searching the index give the same.
func TestWindows(t *testing.T) {
	testrun.NoRace(t)
	ctx := context.Background()
	r := rand.New(rand.NewSource(3))
	genome := make([]byte, 90_000)
	for i := range genome {
		genome[i] = "ACGT"[r.Intn(4)]
	}
	var text strings.Builder
	for i := range 3000 {
		at := r.Intn(len(genome) - 100)
		read := bytes.Clone(genome[at : at+100])
		for range r.Intn(3) {
			read[r.Intn(100)] = "ACGTN"[r.Intn(5)]
		}
		fmt.Fprintf(&text, "@%d\n%s\n+\n%s\n", i, read, strings.Repeat("I", 100))
	}
	file, dir := filepath.Join(t.TempDir(), "a.fastq"), t.TempDir()
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := binning.Run(ctx, binning.Config{Inputs: []binning.InputSpec{{Path: file, Mate: -1}}, OutDir: dir,
		Options: record.Options{BlockSize: 1 << 20}, Threads: 2, Streams: 1})
	if err == nil {
		_, err = packing.Pack(ctx, dir, packing.Options{Threads: 2})
	}
	if err != nil {
		t.Fatal(err)
	}
	e, err := commit.One(dir)
	if err == nil {
		_, err = Index(ctx, e, IndexOptions{Threads: 2})
	}
	if err != nil {
		t.Fatal(err)
	}
	src, err := source.OpenEntry(e, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	x, closeIndex, _, err := source.OpenIndex(e, src.Manifest())
	if err != nil {
		t.Fatal(err)
	}
	defer closeIndex()
	if x.Chunks() < 2 {
		t.Errorf("%d chunks", x.Chunks())
	}
	found := 0
	for most := range 4 {
		var queries []FindQuery
		for i := range 60 {
			at := r.Intn(len(genome) - 40)
			q, err := ParseQuery(fmt.Sprint(i), string(genome[at:at+MinQuery+r.Intn(28)]))
			if err != nil {
				t.Fatal(err)
			}
			queries = append(queries, q)
		}
		f, err := NewFinder(queries, FindOptions{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		s := &search{Finder: f}
		order := func(a, b window) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Pattern, b.Pattern)) }
		byRows, err := s.windowsByRows(ctx, x, most)
		if err != nil {
			t.Fatal(err)
		}
		byText, err := s.windowsByText(ctx, x, most)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(byRows, order)
		slices.SortFunc(byText, order)
		if !slices.Equal(byRows, byText) {
			t.Errorf("%d differences: %d and %d windows", most, len(byRows), len(byText))
		}
		found += len(byRows)
	}
	if found < 200 {
		t.Errorf("%d windows", found)
	}
}
