//go:build cuda

package cudakern

import (
	"context"
	"fmt"

	"gorgonia.org/cu"
)

// Ring is a number of pieces of pinned host memory through which text goes to the devices. Its
// methods may be called from any goroutine.
type Ring struct {
	devices []*Device
	free    chan *Piece // the piece that was uploaded longest ago first
}

// Piece is one of the buffers of a Ring.
type Piece struct {
	Mem []byte // as many bytes as NewRing was told

	ring   *Ring
	events []cu.Event // one a device: the upload from here is done
	made   []bool
	last   int // the device of the last upload that may not be done, or -1
}

// NewRing divides the memory into pieces of so many bytes for lanes of the devices, all of the machine's up to some
// index. Close of the first device frees the memory.
func NewRing(devices []*Device, memory *HostMemory, pieceSize int) (*Ring, error) {
	mem, err := devices[0].PinMemory(memory)
	if err != nil {
		return nil, err
	}
	r := &Ring{devices: devices, free: make(chan *Piece, len(mem)/pieceSize)}
	for range cap(r.free) {
		n := len(devices)
		r.free <- &Piece{Mem: mem[:pieceSize:pieceSize], ring: r, events: make([]cu.Event, n), made: make([]bool, n), last: -1}
		mem = mem[pieceSize:]
	}
	return r, nil
}

// Get returns a piece that is not in use. It waits while all are, at most until ctx ends; then the
// error is that of ctx. After an error there is no piece to release.
func (r *Ring) Get(ctx context.Context) (*Piece, error) {
	var p *Piece
	select {
	case p = <-r.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := p.wait(); err != nil {
		// Others that wait for a piece must go on, to find the same error.
		p.Release()
		return nil, err
	}
	return p, nil
}

// wait waits until the upload from the piece is done.
func (p *Piece) wait() error {
	if p.last < 0 {
		return nil
	}
	leave, err := p.ring.devices[p.last].enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := p.events[p.last].Synchronize(); err != nil {
		return fmt.Errorf("copying text to the device: CUDA error %w", err)
	}
	p.last = -1
	return nil
}

// Release gives a piece back that was not uploaded.
func (p *Piece) Release() { p.ring.free <- p }

// inUse notes that the lane's stream reads from the piece.
func (p *Piece) inUse(l *Lane) error {
	i := l.dev.index
	if !p.made[i] {
		var err error
		if p.events[i], err = cu.MakeEvent(cu.BlockingSyncEvent | cu.DisableTiming); err != nil {
			return fmt.Errorf("making a CUDA event: %w", outOfMemory(err))
		}
		p.made[i] = true
	}
	if err := p.events[i].Record(l.stream); err != nil {
		return l.fault(err)
	}
	p.last = i
	return nil
}
