package compress

import (
	"context"
	"io"
	"path/filepath"
	"sync"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// TestProgressWithinSlice: while one slice is coded, verified and unpacked, progress is reported many times, and before the reads are laid
// out packing says how much there is.
func TestProgressWithinSlice(t *testing.T) {
	testrun.NoRace(t)
	r1, _ := simulated(7, 9000, true)
	out := t.TempDir()
	r, err := binUnnamed(t, []input{{name: "a.fastq", text: r1, mate: -1}}, record.Options{BlockSize: 64 << 20}, out, false, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var mu sync.Mutex
	seen := map[string][]uint64{}
	var sizes []uint64
	report := func(stage string, done, total uint64) {
		mu.Lock()
		defer mu.Unlock()
		if len(sizes) == 0 {
			t.Errorf("%s is reported before the size of all", stage)
		}
		if total != uint64(len(r1)) && (stage == "pack" || stage == "verify" || stage == "unpack") || done > total {
			t.Errorf("%s: %d of %d", stage, done, total)
		}
		seen[stage] = append(seen[stage], done)
	}
	s, err := PackUnnamed(context.Background(), r, limited(PackOptions{Threads: 2, Progress: report,
		Sized: func(reads, bases, coded, _ uint64) { sizes = []uint64{reads, bases, coded} }}))
	if err != nil || s.Slices != 1 {
		t.Fatal(s, err)
	}
	if len(sizes) != 3 || sizes[0] != s.Records || sizes[1] != s.Bases || sizes[2] < s.Bases/8 || sizes[2] > uint64(len(r1)) {
		t.Errorf("packing says that there are %v reads, bases and bytes", sizes)
	}
	o := UnpackOptions{Threads: 2, Stream: io.Discard, Progress: report}
	if _, err := Unpack(context.Background(), filepath.Join(out, "a"), o); err != nil {
		t.Fatal(err)
	}
	for _, stage := range []string{"pack", "verify", "unpack"} {
		values := map[uint64]bool{}
		for _, v := range seen[stage] {
			values[v] = true
		}
		if len(values) < 5 || !values[uint64(len(r1))] {
			t.Errorf("%s: reported %v", stage, seen[stage])
		}
	}
}
