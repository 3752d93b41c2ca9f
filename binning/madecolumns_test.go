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
		of   Resources
		want int
	}{
		{Resources{Streams: 4}, 4},
		{Resources{Streams: 2}, 2},
		{Resources{Streams: 8}, 4},
		{Resources{Streams: 4, AllGzip: true}, 0},
		{Resources{Streams: 4, Keep: Keep{Quals: true}}, 0},
		{Resources{Streams: 4, Keep: Keep{Names: true}}, 0},
	} {
		c.of.BlockSize = 1 << 20
		m, got := makeColumns(&c.of), 0
		if m != nil {
			got = cap(m.ready)
		}
		if got != c.want {
			t.Errorf("%+v: memory for %d blocks, want %d", c.of, got, c.want)
		}
		if err := m.free(); err != nil {
			t.Error(err)
		}
	}
}
