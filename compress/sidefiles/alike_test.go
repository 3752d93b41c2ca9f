package sidefiles

import (
	"bytes"
	"fmt"
	"math"
	"testing"
)

// TestAlikeTablesKept: tables of which there may be too few are not kept in memory beyond its bound, but classified one by one.
func TestAlikeTablesKept(t *testing.T) {
	text := []byte("name\tcount\n")
	for i := 0; len(text) < 2*minAlone; i++ {
		text = fmt.Appendf(text, "gene%d\t%d\n", i, i*i%97)
	}
	for _, memory := range []uint64{math.MaxUint64, 1 << 40, 96 << 20} {
		testAlikeTablesKept(t, memory, text)
	}
	if most := newAlikes(96 << 20).most; most > 96<<20/20 {
		t.Errorf("%d bytes are kept in 96 MiB", most)
	}
}

func testAlikeTablesKept(t *testing.T, memory uint64, text []byte) {
	t.Helper()
	const fit = leastAlike - 1
	a, alone := newAlikes(memory), 0
	a.size = a.most - fit*len(text)
	for i := range leastAlike {
		if got := a.add(i, "a.tsv", text); got != (i < fit) {
			t.Errorf("table %d is kept: %v", i, got)
		}
	}
	if a.size > a.most || a.most > maxAlikeKept {
		t.Errorf("%d bytes are kept, want at most %d", a.size, a.most)
	}
	a.classify(make([]entry, leastAlike), 1, func(i int, sample []byte) {
		if alone++; i >= fit || !bytes.Equal(sample, text) {
			t.Errorf("file %d is classified by other bytes", i)
		}
	})
	if alone != fit {
		t.Errorf("%d tables are classified one by one, want %d", alone, fit)
	}
}
