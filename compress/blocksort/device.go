package blocksort

import (
	"fmt"

	"orcomgo/compress/bwt"
	"orcomgo/compress/transform"
)

// Device says where blocks are transformed. The stream does not depend on it.
type Device = transform.Device

// The devices of WithDevice.
const (
	DeviceCPU  = transform.CPU // the default
	DeviceGPU  = transform.GPU
	DeviceAuto = transform.Auto
)

// WithDevice sets where blocks are transformed, by the Writer or back by the Reader; what codes them is the CPU. note, unless it is nil,
// is called with a line for the user if a GPU is not used any more, or not for a block because it has too little memory: then the CPU
// transforms. A GPU needs about transform.BytesOnGPU times the block size of memory for a block, and a Writer has two large ones in work.
// note may be called by any goroutine, by one at a time.
func WithDevice(d Device, note func(line string)) Option {
	return func(o *options) error {
		if d < DeviceCPU || d > DeviceAuto {
			return fmt.Errorf("blocksort: no device %d", d)
		}
		o.device, o.note = d, note
		return nil
	}
}

// openDevice sets the accelerator that options ask for.
func (p *spaces) openDevice(o *options) (err error) {
	if p.accelerator, err = transform.Open(o.device, o.note); err != nil {
		return fmt.Errorf("blocksort: %w", err)
	}
	return nil
}

// transform is bwt.Transform.
func (s *space) transform(dst, text []byte, threads int) ([]uint32, error) {
	starts := make([]uint32, bwt.Starts(len(text)))
	if s.lane.Transform(dst, text, bwt.Step(len(text)), starts, 0, nil) {
		return starts, nil
	}
	t, unlock := s.lockTransformer(len(text))
	defer unlock()
	return t.Transform(dst, text, threads)
}

// lockTransformer returns what transforms a block of n bytes on the CPU, and a function to be called after that.
func (s *space) lockTransformer(n int) (t *bwt.Transformer, unlock func()) {
	if n <= smallBlock {
		return &s.transformer, func() {}
	}
	s.pool.large.Lock()
	return &s.pool.transform, s.pool.large.Unlock
}

// inverse is bwt.Inverse.
func (s *space) inverse(dst, transformed []byte, starts []uint32, threads int) error {
	if s.lane.Inverse(dst, transformed, starts[0]) {
		return nil
	}
	t, unlock := s.lockTransformer(len(dst))
	defer unlock()
	return t.Inverse(dst, transformed, starts, threads)
}
