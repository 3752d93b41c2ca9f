package blocksort

import (
	"errors"
	"fmt"
	"sync"

	"orcomgo/compress/bwt"
)

// Device says where blocks are transformed. The stream does not depend on it.
type Device int

// The devices of WithDevice.
const (
	DeviceCPU  Device = iota // the default
	DeviceGPU                // the first GPU, or an error if there is none that can be used
	DeviceAuto               // a GPU for blocks of 4 MiB or more, if there is one that can be used; else the CPU
)

// WithDevice sets where blocks are transformed, by the Writer or back by the Reader; what codes them is the CPU. note, unless it is nil,
// is called with a line for the user if a GPU is not used any more, or not for a block because it has too little memory: then the CPU
// transforms. A GPU needs about 63 times the block size of memory for a block, and a Writer has two large ones in work. note may be
// called by any goroutine, by one at a time.
func WithDevice(d Device, note func(line string)) Option {
	return func(o *options) error {
		if d < DeviceCPU || d > DeviceAuto {
			return fmt.Errorf("blocksort: no device %d", d)
		}
		o.device, o.note = d, note
		return nil
	}
}

// leastForGPU is from how many bytes on DeviceAuto transforms a block on a GPU.
const leastForGPU = 4 << 20

// ErrNoGPU reports that DeviceGPU was asked of a program that has no code for GPUs.
var ErrNoGPU = errors.New("blocksort: this program was built without GPU support")

// gpu is a GPU.
type gpu interface {
	// newTransformer returns what transforms blocks for one goroutine at a time. Errors that wrap errMemory are for want of memory.
	newTransformer() (gpuTransformer, error)
	close() error
}

// gpuTransformer is what cudakern.Transformer is.
type gpuTransformer interface {
	Transform(dst, text []byte, step int, starts []uint32) error
	Inverse(dst, transformed []byte, origin uint32) error
	Close() error
}

var (
	// openGPU opens the first GPU. It is nil in programs that have no code for GPUs.
	openGPU func() (gpu, error)
	// tooLittleMemory reports whether an error of a GPU is for want of memory.
	tooLittleMemory func(error) bool
)

// accelerator is a GPU that is given up at its first error that is not for want of memory. A nil accelerator does nothing.
type accelerator struct {
	dev   gpu
	least int // bytes of a block that it transforms
	note  func(line string)

	mutex  sync.Mutex
	failed bool
	noted  bool // that there was too little memory
}

// newAccelerator opens the GPU that options ask for, if they do. It is nil if the CPU is to be used.
func newAccelerator(o *options) (*accelerator, error) {
	if o.device == DeviceCPU || openGPU == nil && o.device == DeviceAuto {
		return nil, nil
	}
	if openGPU == nil {
		return nil, ErrNoGPU
	}
	dev, err := openGPU()
	if err != nil {
		if o.device == DeviceGPU {
			return nil, fmt.Errorf("blocksort: no usable GPU: %w", err)
		}
		return nil, nil
	}
	a := &accelerator{dev: dev, note: o.note}
	if o.device == DeviceAuto {
		a.least = leastForGPU
	}
	return a, nil
}

// use has f called with a transformer, and reports whether it succeeded; s keeps the transformer.
func (a *accelerator) use(s *space, size int, f func(gpuTransformer) error) bool {
	if a == nil || size < a.least {
		return false
	}
	a.mutex.Lock()
	skip := a.failed || s.tooMuch > 0 && size >= s.tooMuch
	a.mutex.Unlock()
	if skip {
		return false
	}
	var err error
	if s.onGPU == nil {
		s.onGPU, err = a.dev.newTransformer()
	}
	if err == nil {
		err = f(s.onGPU)
	}
	if err == nil {
		return true
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	line := ""
	switch {
	case tooLittleMemory(err):
		s.tooMuch = size // others may have enough
		if !a.noted {
			line = fmt.Sprintf("the CPU transforms a block of %d MB: %v", (size+999999)/1000000, err)
		}
		a.noted = true
	case !a.failed:
		a.failed = true
		line = fmt.Sprintf("the GPU is not used any more, the CPU transforms the blocks: %v", err)
	}
	if line != "" && a.note != nil {
		a.note(line)
	}
	return false
}

// transform is bwt.Transform.
func (s *space) transform(dst, text []byte, threads int) ([]uint32, error) {
	starts := make([]uint32, bwt.Starts(len(text)))
	done := s.pool.accelerator.use(s, len(text), func(g gpuTransformer) error { return g.Transform(dst, text, bwt.Step(len(text)), starts) })
	if done {
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

// inverse is bwt.Inverse. What a GPU takes for no transform is left to the CPU, which knows better.
func (s *space) inverse(dst, transformed []byte, starts []uint32, threads int) error {
	valid := true
	done := s.pool.accelerator.use(s, len(dst), func(g gpuTransformer) error {
		err := g.Inverse(dst, transformed, starts[0])
		if err != nil && notATransform(err) {
			valid, err = false, nil
		}
		return err
	})
	if done && valid {
		return nil
	}
	t, unlock := s.lockTransformer(len(dst))
	defer unlock()
	return t.Inverse(dst, transformed, starts, threads)
}

// notATransform reports whether an error of a GPU says that what it got is no transform.
var notATransform = func(error) bool { return false }
