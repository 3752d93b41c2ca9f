package packing

import (
	"testing"

	"orcomgo/bins"
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
		threads               int
		memory                uint64
		specs                 []slicing.Spec
		busy, ahead, verified int
	}{
		{1, 0, specsOf(nil, 1000, 2*mib), 1, 1, 1},
		{2, 1 << 40, specsOf(nil, 1000, 2*mib), 2, 1, 2},
		{2, 1 << 40, specsOf(run, 1000, 2*mib), 6, 1, 2},
		{16, 1 << 40, specsOf(run, 1000, 2*mib), 48, 1, 16},
		{16, 1 << 40, specsOf(nil, 1000, 64*mib), 16, 16, 16},
		{16, 1 << 40, specsOf(nil, 1000, 2*mib), 16, 512, 48},
		{16, 1 << 40, specsOf(nil, 1000, 24*mib, 2*mib), 16, 501, 48},
		{16, 1 << 40, specsOf(nil, 100, 24*mib, 2*mib), 16, 100, 48},
		{8, 1 << 40, specsOf(nil, 1000, 24*mib, 2*mib), 8, 245, 21},
		{16, 1 << 40, specsOf(nil, 1000, 1), 16, 512, 48},
		{16, 1 << 30, specsOf(nil, 1000, 24*mib, 2*mib), 16, 21, 48},
		{16, 0, specsOf(nil, 1000, 24*mib, 2*mib), 16, 21, 48},
		{16, 256 * mib, specsOf(nil, 1000, 24*mib, 2*mib), 16, 0, 48},
		{16, 1 << 40, nil, 16, 1, 16},
	} {
		p := Packer{O: Options{Threads: c.threads, Memory: c.memory}, specs: c.specs, R: new(bins.Reader)}
		if busy, ahead, verified := p.busyThreads(), p.ahead(), p.verifiedAtOnce(); busy != c.busy || ahead != c.ahead || verified != c.verified {
			t.Errorf("%d threads, memory %d, %d slices: %d, %d and %d, want %d, %d and %d", c.threads, c.memory, len(c.specs),
				busy, ahead, verified, c.busy, c.ahead, c.verified)
		}
	}
}
