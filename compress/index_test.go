package compress

import (
	"bytes"
	"context"
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/internal/testrun"
)

// TestIndexFile: what is beside an archive and is not its index is an error, or is replaced if it is one.
func TestIndexFile(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewSource(5))
	text, _ := variantReads(r, []byte(randomBases(r, 2000)), 300, 60)
	other, _ := variantReads(r, []byte(randomBases(r, 2000)), 300, 60)
	dir := binTo(t, single("a.fastq", text), record.Options{})
	if _, err := Index(ctx, entryOf(t, dir), IndexOptions{}); err == nil || !strings.Contains(err.Error(), "not packed") {
		t.Errorf("index of bins: %v", err)
	}
	packTo(t, dir, PackOptions{})
	otherDir := binTo(t, single("a.fastq", other), record.Options{})
	packTo(t, otherDir, PackOptions{})
	e, path := entryOf(t, dir), filepath.Join(dir, "a.cfm")
	index := func(o IndexOptions) *IndexSummary {
		t.Helper()
		s, err := Index(ctx, e, o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := index(IndexOptions{Threads: 1})
	file, err := os.ReadFile(path)
	if err != nil || uint64(len(file)) != first.Bytes || first.There {
		t.Fatalf("%d bytes, %v, %+v", len(file), err, first)
	}
	if s := index(IndexOptions{}); !s.There || s.Bytes != first.Bytes || s.Bases != first.Bases {
		t.Errorf("a second time: %+v", s)
	}
	if s := index(IndexOptions{Force: true, Threads: 3}); s.There {
		t.Errorf("with force: %+v", s)
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, file) {
		t.Errorf("another file: %v", err)
	}
	if _, err := Index(ctx, e, IndexOptions{Force: true, Memory: 100}); err == nil || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("in little memory: %v", err)
	}
	q, _ := ParseQuery("q", "ACGTTGCATGCAAA")
	f, err := NewFinder([]FindQuery{q}, FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Index(ctx, entryOf(t, otherDir), IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(filepath.Join(otherDir, "a.cfm"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(file)
	damaged[200] ^= 1
	for name, content := range map[string][]byte{"of another archive": foreign, "damaged": damaged, "cut": file[:len(file)-1]} {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Find(ctx, e); !errors.Is(err, ErrIndex) || !strings.Contains(err.Error(), "orcomgo index makes it again") {
			t.Errorf("%s: %v", name, err)
		}
		if s := index(IndexOptions{}); s.There {
			t.Errorf("%s: it was taken for the index", name)
		}
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, file) {
			t.Errorf("%s: not replaced: %v", name, err)
		}
	}
	// Where it does not say which slices have the reads, all are searched.
	if q, err = ParseQuery("q", strings.Split(text, "\n")[1][:20]); err != nil {
		t.Fatal(err)
	}
	want := find(t, e, []FindQuery{q}, FindOptions{Reads: true})
	damaged[200], damaged[len(damaged)-2] = file[200], file[len(file)-2]^1
	if err := os.WriteFile(path, damaged, 0o666); err != nil {
		t.Fatal(err)
	}
	got := find(t, e, []FindQuery{q}, FindOptions{Reads: true})
	if len(want.Reads) == 0 || !slices.Equal(got.Reads, want.Reads) || len(got.Notes) != 1 {
		t.Errorf("its blocks are damaged: %+v, want %+v", got, want)
	}
	if s := index(IndexOptions{}); s.There {
		t.Error("with a damaged block it was taken for the index")
	}
	if err := os.WriteFile(path, []byte("my own file"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Find(ctx, e); !errors.Is(err, ErrIndex) {
		t.Errorf("a file of somebody else: %v", err)
	}
	if _, err := Index(ctx, e, IndexOptions{}); !errors.Is(err, commit.ErrForeign) {
		t.Errorf("a file of somebody else was to be replaced: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "my own file" {
		t.Errorf("it is %q now", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := vfs.MakeFIFO(path); err != nil {
		t.Skip(err)
	}
	if _, err := f.Find(ctx, e); !errors.Is(err, ErrIndex) || !errors.Is(err, vfs.ErrNotRegular) {
		t.Errorf("a FIFO: %v", err)
	}
	if _, err := Index(ctx, e, IndexOptions{}); !errors.Is(err, commit.ErrForeign) {
		t.Errorf("a FIFO was to be replaced: %v", err)
	}
}

// TestManyHits: of a query that is nearly everywhere, not all hits are located, and it is found nevertheless.
func TestManyHits(t *testing.T) {
	testrun.NoRace(t)
	const n = 30_000
	dir := binTo(t, single("a.fasta", ">a\n"+strings.Repeat("A", n)+"\n>b\nACGTACGTACGTTTT\n"), record.Options{})
	packTo(t, dir, PackOptions{})
	if _, err := Index(context.Background(), entryOf(t, dir), IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	q, err := ParseQuery("A", strings.Repeat("A", 20))
	if err != nil {
		t.Fatal(err)
	}
	got := find(t, entryOf(t, dir), []FindQuery{q}, FindOptions{Count: true})
	if c := got.Counts; len(c) != 1 || c[0].Hits < n-19 || c[0].Hits > n-18 || c[0].Depth < n-20 || c[0].Depth > n || c[0].Reads != 1 {
		t.Errorf("%+v", c)
	}
}
