package compress

import (
	"context"
	"io"
	"path/filepath"
	"sync"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/seqs"
	"orcomgo/internal/testrun"
)

// TestProgressWithinSlice: while one slice is coded, verified and unpacked, progress is reported many times. That of coding, which begins
// with the qualities while the reads are laid out, is held back until they are.
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
	laidOut := false
	report := func(stage string, done, total uint64) {
		mu.Lock()
		defer mu.Unlock()
		laidOut = laidOut || stage == seqs.CodingStage
		if stage == "pack" && done > 0 && !laidOut {
			t.Error("coding is reported while reads are laid out")
		}
		if total != uint64(len(r1)) && (stage == "pack" || stage == "verify" || stage == "unpack") || done > total {
			t.Errorf("%s: %d of %d", stage, done, total)
		}
		seen[stage] = append(seen[stage], done)
	}
	s, err := PackUnnamed(context.Background(), r, limited(PackOptions{Threads: 2, Progress: report}))
	if err != nil || s.Slices != 1 {
		t.Fatal(s, err)
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
		least := 5
		if stage == "pack" {
			least = 4 // the qualities may all be coded before the reads are laid out, and are reported at once then
		}
		if len(values) < least || !values[uint64(len(r1))] {
			t.Errorf("%s: reported %v", stage, seen[stage])
		}
	}
}
