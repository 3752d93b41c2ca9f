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

const (
	// columnsPercent is how much memory the columns of a block without names and qualities take, of its text: for each base and its
	// quality a quarter of a byte, and 8 bytes for each read.
	columnsPercent = 15
	// mostMade is for how many blocks memory is made at most, since blocks of the CPU are in memory as well then.
	mostMade = 4
)

// makeColumns begins to make memory for a block of each stream. It returns nil where that saves no time: if names or qualities are kept,
// or if all inputs are gzip, so that the first blocks come later.
func makeColumns(r *Resources) *madeColumns {
	if r.Keep.Names || r.Keep.Quals || r.AllGzip {
		return nil
	}
	return makeMemory(min(r.Streams, mostMade), int(r.BlockSize)/100*columnsPercent)
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
