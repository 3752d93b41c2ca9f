package restoring

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/source"
)

// countedSource is a source of slices without columns that counts how many are in work.
type countedSource struct {
	source.Source
	man          archive.Manifest
	inWork, most atomic.Int32
}

func (c *countedSource) Manifest() *archive.Manifest         { return &c.man }
func (c *countedSource) Pass([]source.Demand) source.Decoder { return c }
func (c *countedSource) Decode(_ context.Context, d source.Demand) (*source.Decoded, error) {
	n := c.inWork.Add(1)
	if n > c.most.Load() {
		c.most.Store(n)
	}
	return &source.Decoded{Slice: &c.man.Slices[d.Slice]}, nil
}

// TestSlicesInMemory: as many slices are in work, from when they are decoded until they are consumed, as memory has room for.
func TestSlicesInMemory(t *testing.T) {
	const text = 8 << 20
	for _, c := range []struct {
		memory uint64
		most   int32
	}{{96e6, 1}, {128 << 20, 1}, {(72 + 4*15) << 20, 1}, {(72 + 4*16) << 20, 2}, {(72 + 4*24) << 20, 3}, {1 << 30, 9}} {
		synctest.Test(t, func(t *testing.T) {
			src := &countedSource{man: archive.Manifest{Verified: true, Inputs: []archive.Input{{Input: record.Input{Mate: -1}}},
				Slices: make([]archive.Slice, 20)}}
			for i := range src.man.Slices {
				src.man.Slices[i] = archive.Slice{Records: 1, First: archive.Member{TextLen: text}}
			}
			jobs := WholeArchive(&src.man)
			err := NewReplay(src, "", 8, c.memory, nil, jobs).Run(t.Context(), jobs, nil, func(_ int, _ *Piece, done func()) error {
				synctest.Wait() // until all that may begin have begun
				src.inWork.Add(-1)
				done()
				return nil
			})
			if got := src.most.Load(); err != nil || got != c.most {
				t.Errorf("in %d MiB of memory %d slices are in work, want %d (%v)", c.memory>>20, got, c.most, err)
			}
		})
	}
}
