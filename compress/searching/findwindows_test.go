package searching

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
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

// indexed returns an indexed archive of reads of a genome, and of some of no genome, which it returns as well.
func indexed(t *testing.T, r *rand.Rand) (e commit.Entry, genome []byte, alone [][]byte) {
	genome = make([]byte, 90_000)
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
	for i := range 30 {
		read := make([]byte, 100)
		for k := range read {
			read[k] = "ACGT"[r.Intn(4)]
		}
		alone = append(alone, read)
		fmt.Fprintf(&text, "@alone%d\n%s\n+\n%s\n", i, read, strings.Repeat("I", 100))
	}
	file, dir := filepath.Join(t.TempDir(), "a.fastq"), t.TempDir()
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	_, err := binning.Run(ctx, binning.Config{Inputs: []binning.InputSpec{{Path: file, Mate: -1}}, OutDir: dir,
		Options: record.Options{BlockSize: 1 << 20}, Threads: 2, Streams: 1})
	if err == nil {
		_, err = packing.Pack(ctx, dir, packing.Options{Threads: 2})
	}
	if err != nil {
		t.Fatal(err)
	}
	if e, err = commit.One(dir); err == nil {
		_, err = Index(ctx, e, IndexOptions{Threads: 2})
	}
	if err != nil {
		t.Fatal(err)
	}
	return e, genome, alone
}

// TestWindows: going through the text and searching the index give the same.
func TestWindows(t *testing.T) {
	testrun.NoRace(t)
	ctx := context.Background()
	r := rand.New(rand.NewSource(3))
	e, genome, _ := indexed(t, r)
	src, err := source.OpenEntry(e, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	x, closeIndex, _, err := source.OpenIndex(e, src.Manifest(), source.AllRanks)
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
		byText, _, err := s.windowsByText(ctx, x, most)
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

// TestWithoutRanks: an index without ranks, as it is fetched of remote archives, finds what a whole one does, and what a scan does.
func TestWithoutRanks(t *testing.T) {
	testrun.NoRace(t)
	ctx := context.Background()
	r := rand.New(rand.NewSource(5))
	e, genome, alone := indexed(t, r)
	hits, reads := 0, 0
	check := func(o FindOptions, texts ...string) {
		t.Helper()
		var queries []FindQuery
		for i, text := range texts {
			q, err := ParseQuery(fmt.Sprint(i), text)
			if err != nil {
				t.Fatal(err)
			}
			queries = append(queries, q)
		}
		o.Threads, o.Reads = 2, true
		found := make([]*Finding, 2)
		for i, mostRanks := range []int64{0, source.AllRanks} {
			f, err := NewFinder(queries, o)
			if err != nil {
				t.Fatal(err)
			}
			src, err := source.OpenEntry(e, 2, 0)
			if err != nil {
				t.Fatal(err)
			}
			p := src.(*source.Packed)
			found[i] = new(Finding)
			s := &search{Finder: f, finding: found[i], src: p, man: p.Man, pool: p.Pool}
			if err := s.inIndex(ctx, e, p, mostRanks); err != nil {
				t.Fatal(err)
			}
			src.Close()
		}
		if !reflect.DeepEqual(found[0], found[1]) {
			t.Errorf("%+v, %q: %v and %v", o, texts, found[0], found[1])
		}
		for _, c := range found[0].Counts {
			hits += c.Hits
		}
		reads += len(found[0].Reads)
		if o.Within < MaxWithin {
			return
		}
		o.Scan = true
		f, err := NewFinder(queries, o)
		if err != nil {
			t.Fatal(err)
		}
		if scanned, err := f.Find(ctx, e); err != nil || !reflect.DeepEqual(scanned.Reads, found[0].Reads) {
			t.Errorf("%+v, %q: %v in the index, %v by a scan, %v", o, texts, found[0].Reads, scanned.Reads, err)
		}
	}
	other := func(text string) string {
		b := []byte(text)
		slices.Reverse(b)
		return strings.NewReplacer("A", "T", "C", "G", "G", "C", "T", "A").Replace(string(b))
	}
	for i := range 9 {
		at, n := r.Intn(len(genome)-80), 24+r.Intn(30)
		placed, single := string(genome[at:at+n]), string(alone[i][20:20+n])
		for _, mismatches := range []int{0, 2, 4} {
			o := FindOptions{Within: i, Mismatches: mismatches}
			check(o, placed)
			check(o, single, other(placed), other(single))
			check(o, placed[:5]+"R"+placed[6:], single[:3]+"NN"+single[5:])
		}
		check(FindOptions{Within: i, Overlap: 20}, placed, other(single))
	}
	if hits < 100 || reads < 200 {
		t.Errorf("%d hits, %d reads", hits, reads)
	}
}
