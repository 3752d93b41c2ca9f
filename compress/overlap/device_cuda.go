//go:build cuda

package overlap

import (
	"errors"
	"sync"

	"orcomgo/cudakern"
)

func init() { openDevice = openCUDA }

// What the index and its reader on the device have in common. A constant that differs is negative in one of its two lines, and
// does not compile. So is what a search returns.
const (
	_ = uint(cudakern.IndexSegmentBits - indexSegmentBits)
	_ = uint(indexSegmentBits - cudakern.IndexSegmentBits)
	_ = uint(cudakern.IndexKeyBits - indexKeyBits)
	_ = uint(indexKeyBits - cudakern.IndexKeyBits)
	_ = uint(cudakern.PlaceReversed - deviceReversed)
	_ = uint(deviceReversed - cudakern.PlaceReversed)
	_ = uint(cudakern.NoPlace - Unplaced)
	_ = uint(Unplaced - cudakern.NoPlace)
)

// cuda is the first NVIDIA GPU.
type cuda struct {
	dev    *cudakern.Device
	mu     sync.Mutex // a placer is used by one goroutine at a time
	placer *cudakern.Placer
}

func openCUDA() (device, error) {
	dev, err := cudakern.Open(0)
	if err != nil {
		return nil, err
	}
	p, err := dev.NewPlacer()
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	return &cuda{dev: dev, placer: p}, nil
}

func (c *cuda) loadReads(rd *Reads) error {
	return c.placer.LoadReads(cudakern.PlaceReads{
		Packed: rd.packed, Offsets: rd.offsets, Stride: rd.stride, Lengths: rd.lengths, Length: rd.fixedLength, Count: rd.Count(),
	})
}

func (c *cuda) buildIndex(seq *sequence, w *window) error {
	return c.placer.BuildIndex(seq.packed, w.from, w.n, seq.n, cudaMode(w.mode))
}

func (c *cuda) place(m placeMode, from int, limits []uint8, positions []uint32, outcomes []uint16) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.placer.Place(cudaMode(m), from, limits, positions, outcomes)
}

func cudaMode(m placeMode) cudakern.PlaceMode {
	return cudakern.PlaceMode{
		K: m.k, SampleMask: int(m.sampleMask), SeedStep: m.seedStep, BasesPerCandidate: m.basesPerCandidate,
		BasesPerMoreSeed: m.basesPerMoreSeed, GoodMismatches: m.goodMismatches, MaxCandidates: m.maxCandidates,
	}
}

func (c *cuda) close() error { return errors.Join(c.placer.Close(), c.dev.Close()) }
