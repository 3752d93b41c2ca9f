package compress

import (
	"testing"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// TestSliceText: slices aim for the text that is asked for, and the text is the same.
func TestSliceText(t *testing.T) {
	testrun.NoRace(t)
	r1, r2 := simulated(71, 400, false)
	for text, least := range map[uint64]int{0: 1, 10_000: len(r1) / 10_000} {
		dir := binTo(t, pair(r1, r2), record.Options{})
		packTo(t, dir, PackOptions{Threads: 2, SliceText: text})
		if got := len(manifestIn(t, dir).Slices); got < least || got > least+1 {
			t.Errorf("text %d: %d slices, want about %d", text, got, least)
		}
		sameFiles(t, unpackAll(t, dir, UnpackOptions{Threads: 2}), map[string]string{"r_1.fastq": r1, "r_2.fastq": r2})
	}
}
