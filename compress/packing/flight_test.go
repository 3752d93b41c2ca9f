package packing

import (
	"testing"

	"orcomgo/compress/slicing"
)

// specsOf returns n slices with so many bytes of text.
func specsOf(run *slicing.Run, n int, texts ...uint64) (specs []slicing.Spec) {
	for i := range n {
		specs = append(specs, slicing.Spec{Text: texts[min(i, len(texts)-1)], Run: run})
	}
	return specs
}

// TestSlicesInFlight: of runs more slices are in work than threads. Where there are many threads, so are others, if they are small and
// memory allows it, although the first one is large.
func TestSlicesInFlight(t *testing.T) {
	const mib = 1 << 20
	run := &slicing.Run{}
	for _, c := range []struct {
		threads                int
		memory                 uint64
		specs                  []slicing.Spec
		alone, coded, verified int // slices in work
	}{
		{1, 0, specsOf(nil, 1000, 2*mib), 2, 2, 2},
		{2, 1 << 40, specsOf(nil, 1000, 2*mib), 3, 3, 3},
		{2, 1 << 40, specsOf(run, 1000, 2*mib), 7, 7, 3},
		{16, 1 << 40, specsOf(run, 1000, 2*mib), 49, 49, 17},
		{16, 1 << 40, specsOf(nil, 1000, 64*mib), 17, 64, 49},
		{16, 1 << 40, specsOf(nil, 1000, 512*mib), 17, 17, 17},
		{16, 1 << 40, specsOf(nil, 5000, 2*mib), 17, 2048, 49},
		{16, 1 << 40, specsOf(nil, 5000, 24*mib, 2*mib), 17, 2037, 49},
		{16, 1 << 40, specsOf(nil, 100, 24*mib, 2*mib), 17, 100, 49},
		{8, 1 << 40, specsOf(nil, 5000, 24*mib, 2*mib), 9, 1013, 25},
		{16, 1 << 40, specsOf(nil, 5000, 1), 17, 2048, 49},
		{16, 1 << 30, specsOf(nil, 1000, 24*mib, 2*mib), 17, 21, 22},
		{16, 0, specsOf(nil, 1000, 24*mib, 2*mib), 17, 21, 22},
		{16, 256 * mib, specsOf(nil, 1000, 24*mib, 2*mib), 12, 6, 6},
		{16, 1 << 40, nil, 17, 17, 17},
	} {
		alone, f := newFlight(c.specs, c.threads, c.memory, false, false), newFlight(c.specs, c.threads, c.memory, true, false)
		if alone.coded != c.alone || f.coded != c.coded || f.verified != c.verified {
			t.Errorf("%d threads, memory %d, %d slices: %d, %d and %d, want %d, %d and %d", c.threads, c.memory, len(c.specs),
				alone.coded, f.coded, f.verified, c.alone, c.coded, c.verified)
		}
	}
}
