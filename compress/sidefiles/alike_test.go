package sidefiles

import (
	"bytes"
	"fmt"
	"testing"
)

// TestAlikeTablesKept: tables of which there may be too few are not kept in memory beyond its bound, but classified one by one.
func TestAlikeTablesKept(t *testing.T) {
	text := []byte("name\tcount\n")
	for i := 0; len(text) < 2*minAlone; i++ {
		text = fmt.Appendf(text, "gene%d\t%d\n", i, i*i%97)
	}
	const fit = leastAlike - 1
	a, alone := alikes{kinds: map[string]*alike{}, size: maxAlikeKept - fit*len(text)}, 0
	for i := range leastAlike {
		if got := a.add(i, "a.tsv", text); got != (i < fit) {
			t.Errorf("table %d is kept: %v", i, got)
		}
	}
	if a.size > maxAlikeKept {
		t.Errorf("%d bytes are kept, want at most %d", a.size, maxAlikeKept)
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
