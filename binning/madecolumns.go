//go:build cuda

package binning

import (
	"errors"
	"sync/atomic"

	"orcomgo/cudakern"
)

// madeColumns is memory for the columns of the first blocks, which is made by another goroutine while devices are opened: making its pages
// takes longer than anything else of these blocks.
type madeColumns struct {
	ready   chan *cudakern.HostMemory // closed after the last one
	stopped atomic.Bool
}

// The memory for the columns of a block, in hundredths of its text, and how much is made for all first blocks: with names and qualities
// not for each stream, since it is in use while the CPU still has blocks. Text is mostly twice its sequences and the names; of its
// sequences a quarter remains, and there are 8 bytes for each read.
const (
	sequencesShare = 15
	allShare       = 30
	madeShare      = 60
)

// makeColumns begins to make memory for a block of each of the run's streams.
func makeColumns(r *Resources) *madeColumns {
	share := sequencesShare
	if r.Keep.Names || r.Keep.Quals {
		share = allShare
	}
	return makeMemory(min(r.Streams, madeShare/share), int(r.BlockSize)/100*share)
}

// makeMemory begins to make count times size bytes.
func makeMemory(count, size int) *madeColumns {
	m := &madeColumns{ready: make(chan *cudakern.HostMemory, count)}
	go func() {
		defer close(m.ready)
		for range count {
			if m.stopped.Load() {
				return
			}
			memory, err := cudakern.NewHostMemory(size)
			if err != nil {
				return // the block that needs it makes its own
			}
			m.ready <- memory
		}
	}()
	return m
}

// take returns memory, nil if there is no more. It waits for what is being made.
func (m *madeColumns) take() *cudakern.HostMemory {
	if m == nil {
		return nil
	}
	return <-m.ready
}

// free frees the memory that was not taken, and ends the making.
func (m *madeColumns) free() error {
	if m == nil {
		return nil
	}
	m.stopped.Store(true)
	var all error
	for memory := range m.ready {
		all = errors.Join(all, memory.Free())
	}
	return all
}
