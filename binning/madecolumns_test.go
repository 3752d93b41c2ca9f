//go:build cuda

package binning

import "testing"

// TestMadeColumns needs no device: memory is taken as often as it was to be made, and freed if nobody takes it.
func TestMadeColumns(t *testing.T) {
	m := makeMemory(3, 5<<20)
	for i := range 5 {
		memory := m.take()
		if (memory != nil) != (i < 3) {
			t.Errorf("%d of 3: %v", i, memory)
		}
		if memory != nil {
			if err := memory.Free(); err != nil {
				t.Error(err)
			}
		}
	}
	m = makeMemory(2, 5<<20)
	if err := m.take().Free(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := m.free(); err != nil {
			t.Error(err)
		}
		if memory := m.take(); memory != nil {
			t.Error("there is memory after free")
		}
	}
	if m = nil; m.take() != nil || m.free() != nil {
		t.Error("nil has memory")
	}
	for _, c := range []struct {
		keep          Keep
		streams, want int
	}{{Keep{}, 4, 4}, {Keep{}, 2, 2}, {Keep{}, 8, 4}, {Keep{Quals: true}, 4, 2}, {Keep{Names: true}, 1, 1}} {
		m := makeColumns(&Resources{Streams: c.streams, BlockSize: 1 << 20, Keep: c.keep})
		if got := cap(m.ready); got != c.want {
			t.Errorf("%+v: memory for %d blocks, want %d", c.keep, got, c.want)
		}
		if err := m.free(); err != nil {
			t.Error(err)
		}
	}
}
