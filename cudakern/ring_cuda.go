//go:build cuda

package cudakern

import (
	"errors"
	"fmt"
	"sync"

	"gorgonia.org/cu"
)

// PieceSize is how many bytes a piece of a Ring holds.
const PieceSize = 1 << 20

// Ring is a number of pieces of pinned host memory through which text goes to the devices. A piece
// is pinned when it is first needed: pinning takes longer than copying. Its methods may be
// called from any goroutine.
type Ring struct {
	devices []*Device
	free    chan *Piece // the piece that was uploaded longest ago first

	mu     sync.Mutex
	most   int // pieces
	pieces []*Piece
}

// Piece is one of the buffers of a Ring.
type Piece struct {
	Mem []byte // PieceSize bytes

	ring   *Ring
	events []cu.Event // one a device: the upload from here is done
	made   []bool
	last   int // the device of the last upload that may not be done, or -1
}

// NewRing returns a ring of at most so many pieces for lanes of the devices, the one with this
// index in d.index. Close of the first device frees them.
func NewRing(devices []*Device, pieces int) *Ring {
	return &Ring{devices: devices, free: make(chan *Piece, pieces), most: pieces}
}

// Get returns a piece that is not in use. It waits while all are.
func (r *Ring) Get() (*Piece, error) {
	select {
	case p := <-r.free:
		return p, p.wait()
	default:
	}
	r.mu.Lock()
	more := len(r.pieces) < r.most
	if more {
		p := &Piece{ring: r, events: make([]cu.Event, len(r.devices)), made: make([]bool, len(r.devices)), last: -1}
		r.pieces = append(r.pieces, p)
		r.mu.Unlock()
		mem, err := r.devices[0].Pin(PieceSize)
		if err == nil {
			p.Mem = mem
			return p, nil
		}
		r.mu.Lock()
		r.most = len(r.pieces) - 1 // make do with those that there are
		r.mu.Unlock()
		if r.most == 0 || !errors.Is(err, ErrMemory) {
			return nil, err
		}
	} else {
		r.mu.Unlock()
	}
	p := <-r.free
	return p, p.wait()
}

// wait waits for the upload from the piece.
func (p *Piece) wait() error {
	if p.last < 0 {
		return nil
	}
	leave, err := p.ring.devices[p.last].enter()
	if err != nil {
		return err
	}
	defer leave()
	event := p.events[p.last]
	p.last = -1
	if err := event.Synchronize(); err != nil {
		return fmt.Errorf("copying text to the device: CUDA error %w", err)
	}
	return nil
}

// Release gives a piece back that was not uploaded.
func (p *Piece) Release() { p.release() }

func (p *Piece) release() { p.ring.free <- p }

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
