// Package transform computes the Burrows-Wheeler transform on a GPU, for the packages that ask for one; what it leaves undone, they have
// done by package bwt, with the same bytes.
package transform

import (
	"errors"
	"fmt"

	"orcomgo/internal/failover"
)

// Device says where texts are transformed. The result does not depend on it.
type Device int

// The devices.
const (
	CPU  Device = iota
	GPU         // the first GPU, or an error if there is none that can be used
	Auto        // a GPU for texts of 4 MiB or more, if there is one that can be used; else the CPU
)

const leastForGPU = 4 << 20 // bytes of a text that Auto has a GPU transform

// BytesOnGPU is about how many bytes of a GPU's memory each byte of a text takes.
const BytesOnGPU = 63

// ErrNoGPU reports that GPU was asked of a program that has no code for GPUs.
var ErrNoGPU = errors.New("this program was built without GPU support")

// Backend is a GPU.
type Backend interface {
	// NewTransformer returns what transforms texts for one goroutine at a time.
	NewTransformer() (Transformer, error)
	Close() error
}

// Transformer is what cudakern.Transformer is.
type Transformer interface {
	TransformSampled(dst, text []byte, step int, starts []uint32, every int, samples []uint32) error
	Inverse(dst, transformed []byte, origin uint32) error
	Close() error
}

// Code is what a program has for GPUs.
type Code struct {
	Open            func() (Backend, error) // opens the first GPU; nil if there is no code
	TooLittleMemory func(error) bool        // reports whether an error of it is for want of memory
	NotATransform   func(error) bool        // reports whether an error says that what it got is no transform
	Most            int                     // bytes of a text that it transforms
}

var code Code

// Register sets the code for GPUs and returns the code before, for tests. Init functions of builds with the tag cuda call it.
func Register(c Code) (before Code) {
	before, code = code, c
	return before
}

// Accelerator is a GPU that is given up at its first error that is not for want of memory. A nil Accelerator does nothing.
type Accelerator struct {
	dev   Backend
	least int // bytes of a text that it transforms
	state *failover.State
}

// Open opens the GPU that d asks for. The result is nil if the CPU is to be used. note, unless it is nil, is called with a line for the
// user if the GPU is not used any more, or not for a text because it has too little memory; by any goroutine, by one at a time.
func Open(d Device, note func(line string)) (*Accelerator, error) {
	if d == CPU || code.Open == nil && d == Auto {
		return nil, nil
	}
	if code.Open == nil {
		return nil, ErrNoGPU
	}
	dev, err := code.Open()
	if err != nil {
		if d == GPU {
			return nil, fmt.Errorf("no usable GPU: %w", err)
		}
		return nil, nil
	}
	a := &Accelerator{dev: dev, state: failover.New(note)}
	if d == Auto {
		a.least = leastForGPU
	}
	return a, nil
}

// Close frees what the accelerator holds. Its lanes must be closed before.
func (a *Accelerator) Close() error {
	if a == nil {
		return nil
	}
	return a.dev.Close()
}

// Lane has texts transformed, for one goroutine at a time. It keeps memory of the GPU from one text to the next.
type Lane struct {
	a           *Accelerator
	transformer Transformer // nil until it is used
	tooMuch     int         // bytes of a text for which the GPU had too little memory; 0 if there was none
}

// Lane returns a new lane. That of a nil Accelerator does nothing.
func (a *Accelerator) Lane() *Lane { return &Lane{a: a} }

// Close frees what the lane holds.
func (l *Lane) Close() error {
	if l.transformer == nil {
		return nil
	}
	err := l.transformer.Close()
	l.transformer = nil
	return err
}

// Transform is bwt.Transform, with the distance of the starting points, if the GPU does it; it reports whether it did. It also writes where
// the suffixes of the ranks every-1, 2*every-1, ... begin to samples, unless every is 0.
func (l *Lane) Transform(dst, text []byte, step int, starts []uint32, every int, samples []uint32) bool {
	if every == 0 {
		every = len(text) + 1
	}
	return l.use(len(text), func(t Transformer) error { return t.TransformSampled(dst, text, step, starts, every, samples) })
}

// Inverse is bwt.Inverse, from the rank of the whole text, if the GPU does it; it reports whether it did. What the GPU takes for no
// transform is left to the CPU, which knows better.
func (l *Lane) Inverse(dst, transformed []byte, origin uint32) bool {
	valid := true
	done := l.use(len(dst), func(t Transformer) error {
		err := t.Inverse(dst, transformed, origin)
		if err != nil && code.NotATransform(err) {
			valid, err = false, nil
		}
		return err
	})
	return done && valid
}

// use has f called with a transformer, and reports whether it succeeded.
func (l *Lane) use(size int, f func(Transformer) error) bool {
	a := l.a
	if a == nil || size < a.least {
		return false
	}
	if size > code.Most {
		a.leave(size, fmt.Errorf("a GPU takes at most %d MB", code.Most/1_000_000))
		return false
	}
	if a.state.Failed() || l.tooMuch > 0 && size >= l.tooMuch {
		return false
	}
	var err error
	if l.transformer == nil {
		l.transformer, err = a.dev.NewTransformer()
	}
	if err == nil {
		err = f(l.transformer)
	}
	switch {
	case err == nil:
		return true
	case code.TooLittleMemory(err):
		l.tooMuch = size // other lanes may have enough
		a.leave(size, err)
	default:
		a.state.GiveUp(fmt.Sprintf("the GPU is not used any more, the CPU transforms the blocks: %v", err))
	}
	return false
}

// leave notes once that a text is left to the CPU.
func (a *Accelerator) leave(size int, why error) {
	a.state.Note(fmt.Sprintf("the CPU transforms a block of %d MB: %v", (size+999999)/1000000, why))
}
