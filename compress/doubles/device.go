package doubles

import (
	"encoding/binary"
	"errors"
	"fmt"

	"orcomgo/internal/failover"
)

// ErrNoGPU reports that a GPU was asked of a program that has no code for GPUs.
var ErrNoGPU = errors.New("this program was built without GPU support")

// GPU predicts values on a GPU while arrays are coded. Any number of goroutines may use it. A nil GPU does nothing.
type GPU struct {
	dev   backend
	idle  chan coder // those that no goroutine uses
	state *failover.State
}

// backend is an open GPU.
type backend interface {
	newCoder() (coder, error)
	close() error
}

// coder computes residuals for one goroutine at a time.
type coder interface {
	// residuals predicts the values of a chunk: their bits in modeBits, else the integers of decimals; of float32 only in modeBits.
	residuals(values []byte, m mode, width int, blocks []block) ([]leftOver, error)
	close() error
}

// openBackend opens the first GPU; nil if the program has no code for that.
var openBackend func() (backend, error)

// coders is how many chunks a GPU has in work at a time, so that copying and computing overlap.
const coders = 4

// OpenGPU opens the first GPU. note, unless it is nil, is called with a line for the user if the GPU fails and the CPU does its work.
func OpenGPU(note func(line string)) (*GPU, error) {
	if openBackend == nil {
		return nil, ErrNoGPU
	}
	dev, err := openBackend()
	if err != nil {
		return nil, fmt.Errorf("no usable GPU: %w", err)
	}
	g := &GPU{dev: dev, state: failover.New(note), idle: make(chan coder, coders)}
	for range coders {
		g.idle <- nil // made when it is needed
	}
	return g, nil
}

// Close frees what the GPU holds, once nothing is coded any more.
func (g *GPU) Close() error {
	if g == nil {
		return nil
	}
	var err error
	for range coders {
		if c := <-g.idle; c != nil {
			err = errors.Join(err, c.close())
		}
	}
	return errors.Join(err, g.dev.close())
}

// leastOnGPU is the fewest values of a chunk that a GPU is used for.
const leastOnGPU = 1 << 14

// residuals returns what the blocks of a chunk leave, which was loaded from data; nil if the CPU is to compute that.
func (g *GPU) residuals(v *values, data []byte, blocks []block) []leftOver {
	if g == nil || g.state.Failed() || len(v.own()) < leastOnGPU {
		return nil
	}
	if v.mode != modeBits {
		data = make([]byte, 0, 8*len(v.own()))
		for _, u := range v.own() {
			data = binary.LittleEndian.AppendUint64(data, u)
		}
	}
	c := <-g.idle
	defer func() { g.idle <- c }()
	var err error
	if c == nil {
		if c, err = g.dev.newCoder(); err != nil {
			c = nil // not a nil pointer
		}
	}
	if err == nil {
		var all []leftOver
		if all, err = c.residuals(data, v.mode, v.width, blocks); err == nil {
			return all
		}
	}
	g.state.GiveUp(fmt.Sprintf("the GPU is not used any more, the CPU codes arrays of floats: %v", err))
	return nil
}
