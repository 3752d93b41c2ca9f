//go:build cuda

package cudakern

import (
	"context"
	"fmt"

	"gorgonia.org/cu"
)

// Ring is a number of pieces of pinned host memory through which text goes to the device. Its
// methods may be called from any goroutine.
type Ring struct {
	device *Device
	free   chan *Piece // the piece that was uploaded longest ago first
}

// Piece is one of the buffers of a Ring.
type Piece struct {
	Mem []byte // as many bytes as NewRing was told

	ring      *Ring
	event     cu.Event // the upload from here is done; 0 before the first
	uploading bool     // it may not be done
}

// NewRing divides the memory into pieces of so many bytes for lanes of the device. Its Close frees the memory.
func NewRing(d *Device, memory *HostMemory, pieceSize int) (*Ring, error) {
	mem, err := d.PinMemory(memory)
	if err != nil {
		return nil, err
	}
	r := &Ring{device: d, free: make(chan *Piece, len(mem)/pieceSize)}
	for range cap(r.free) {
		r.free <- &Piece{Mem: mem[:pieceSize:pieceSize], ring: r}
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
	if !p.uploading {
		return nil
	}
	leave, err := p.ring.device.enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := p.event.Synchronize(); err != nil {
		return fmt.Errorf("copying text to the device: CUDA error %w", err)
	}
	p.uploading = false
	return nil
}

// Release gives a piece back that was not uploaded.
func (p *Piece) Release() { p.ring.free <- p }

// inUse notes that the lane's stream reads from the piece.
func (p *Piece) inUse(l *Lane) (err error) {
	if p.event == (cu.Event{}) {
		if p.event, err = cu.MakeEvent(cu.BlockingSyncEvent | cu.DisableTiming); err != nil {
			return fmt.Errorf("making a CUDA event: %w", outOfMemory(err))
		}
	}
	if err := p.event.Record(l.stream); err != nil {
		return l.fault(err)
	}
	p.uploading = true
	return nil
}
