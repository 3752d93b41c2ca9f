package compress

import (
	"context"
	"maps"
	"os"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/source"
	"orcomgo/internal/testrun"
)

// TestUnpackByIndex: records are the same where the pseudogenome comes from the index, reads without a place too, and where an index cannot
// be used.
func TestUnpackByIndex(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(31, 900, true)
	dir := binTo(t, pair(r1, r2), record.Options{BlockSize: 64 << 10})
	packTo(t, dir, PackOptions{})
	options := []UnpackOptions{{Records: &RecordRange{From: 0, To: 1}}, {Records: &RecordRange{From: 437, To: 461}},
		{Records: &RecordRange{From: 850, To: 900}, Mate: 2}}
	var want []map[string]string
	for _, o := range options {
		want = append(want, unpackAll(t, dir, o))
	}
	e := entryOf(t, dir)
	if _, err := Index(context.Background(), e, IndexOptions{Threads: 2}); err != nil {
		t.Fatal(err)
	}
	taken := func(memory uint64) bool {
		src, err := source.Open(dir, 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		p := src.(*source.Packed)
		p.TakeIndex(memory)
		return p.Seqs != nil
	}
	compare := func(state string) {
		for i, o := range options {
			if got := unpackAll(t, dir, o); !maps.Equal(got, want[i]) {
				t.Errorf("%s: %v: restored %q, want %q", state, o.Records, got, want[i])
			}
		}
	}
	if !taken(0) || taken(1000) {
		t.Error("the index is not used, or in too little memory")
	}
	compare("indexed")
	flip(t, e.Path()+commit.IndexExt, 300, 1)
	if taken(0) {
		t.Error("a damaged index is used")
	}
	compare("damaged index")
	if err := os.Remove(e.Path() + commit.IndexExt); err != nil {
		t.Fatal(err)
	}
	if taken(0) {
		t.Error("an index is used that is not there")
	}
}
