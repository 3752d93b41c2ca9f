package compress

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/packing"
	"orcomgo/internal/testrun"
)

// ranges returns the ranges of words of the slices of a packed archive.
func ranges(t *testing.T, dir string) (list []string) {
	t.Helper()
	a, err := archive.OpenEntry(entryOf(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, s := range a.Manifest().Slices {
		list = append(list, s.Words.Least+" "+s.Words.Greatest)
	}
	return list
}

// setChains sets how many records chains of names have.
func setChains(t *testing.T, records, long uint64) {
	setLimits(t, func(l *packing.Limits) { l.Chain, l.LongChain = records, long })
}

// numbered returns records of names that count from 1 in FASTQ.
func numbered(n int, name func(i int) string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "@%s\nACGTTGCA\n+\nIIIIIIII\n", name(i+1))
	}
	return b.String()
}

// TestNameRanges: slices say which names they have, and only those that may have a name are read for it: the names of all others are
// damaged here.
func TestNameRanges(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	setChains(t, 1000, 1000)
	const n = 4000
	first := numbered(n, func(i int) string { return fmt.Sprintf("run.%d/1 x", i) })
	second := numbered(n, func(i int) string { return fmt.Sprintf("run.%d/2 y", i) })
	dir := binTo(t, pair(first, second), record.Options{BlockSize: 64 << 10})
	packTo(t, dir, PackOptions{})
	list := ranges(t, dir)
	if len(list) < 3 || !strings.HasPrefix(list[0], "run.1/1 run.") || !strings.HasSuffix(list[len(list)-1], " run.4000/2") {
		t.Fatalf("ranges %q", list)
	}
	damagedNames(t, dir) // of the first slice
	for _, name := range []string{"run.3999", "run.3999/2", "run.3999/1 x"} {
		got := unpackAll(t, dir, UnpackOptions{Names: NewNameFilter([]string{name}, nil)})
		if len(got) != 2 || !strings.HasPrefix(got["r_1.selected.fastq"], "@run.3999/1 x\n") ||
			strings.Count(got["r_2.selected.fastq"], "\n") != 4 {
			t.Errorf("%s: restored %q", name, got)
		}
	}
	o := UnpackOptions{Names: NewNameFilter([]string{"run.3999", "run.7"}, nil), OutDir: t.TempDir()}
	if _, err := Unpack(context.Background(), dir, o); err == nil {
		t.Error("a name of a damaged slice is looked for without an error")
	}
	o.Names = NewNameFilter([]string{"run.4001"}, nil)
	if _, err := Unpack(context.Background(), dir, o); err == nil || !strings.Contains(err.Error(), "no record has a name") {
		t.Errorf("a name after all: error %v", err)
	}
}

// TestNameRangesUnordered: each of many names in no order is found.
func TestNameRangesUnordered(t *testing.T) {
	smallSlices(t)
	const n = 3000
	name := func(i int) string { return fmt.Sprintf("m%d:%d", i*7919%13, i*104729%n) }
	dir := binTo(t, single("x.fastq", numbered(n, name)), record.Options{BlockSize: 64 << 10})
	packTo(t, dir, PackOptions{})
	if list := ranges(t, dir); len(list) < 2 || list[0] == " " {
		t.Fatalf("ranges %q", list)
	}
	for _, i := range []int{1, 2, 1500, n} {
		got := unpackAll(t, dir, UnpackOptions{Names: NewNameFilter([]string{name(i)}, nil)})
		if !strings.HasPrefix(got["x.selected.fastq"], "@"+name(i)+"\n") {
			t.Errorf("record %d: restored %q", i, got)
		}
	}
}

// TestLongWords: words that are too long for a manifest are not in it, and their names are found all the same.
func TestLongWords(t *testing.T) {
	smallSlices(t)
	long := strings.Repeat("n", archive.MaxWord)
	text := numbered(300, func(i int) string { return fmt.Sprintf("%s%d", long, i) })
	dir := binTo(t, single("x.fastq", text), record.Options{BlockSize: 64 << 10})
	packTo(t, dir, PackOptions{})
	if list := ranges(t, dir); len(list) < 2 || slices.ContainsFunc(list, func(s string) bool { return s != " " }) {
		t.Errorf("ranges %q", list)
	}
	got := unpackAll(t, dir, UnpackOptions{Names: NewNameFilter([]string{long + "17"}, nil)})
	if !strings.HasPrefix(got["x.selected.fastq"], "@"+long+"17\n") {
		t.Errorf("restored %q", got)
	}
}
