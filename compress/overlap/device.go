package overlap

import (
	"fmt"
	"sync"
)

// device is an accelerator that lays out reads. Its results are those of the CPU, bit for bit. Its methods may be called from
// any goroutine, but loadReads and buildIndex not at the same time as place.
type device interface {
	// loadReads copies reads to the device, in place of those that are there.
	loadReads(rd *Reads) error
	// buildIndex copies a sequence to the device and indexes the k-mers of a window of it, in place of what is there.
	buildIndex(seq *sequence, w *window) error
	// place searches for the places of reads from..from+len(limits)-1, as placer.place does. Letters other than A, C, G and T
	// count as they are packed. positions and outcomes have as many elements as limits: an element of positions becomes
	// Unplaced if no place is found; else that of outcomes becomes the number of mismatches, and deviceReversed.
	place(mode placeMode, from int, limits []uint8, positions []uint32, outcomes []uint16) error
	// close frees what the device has.
	close() error
}

// deviceReversed is the bit of an outcome that says that the stored read is on the reverse strand.
const deviceReversed = 1 << 15

// openDevice opens the device. It is nil in programs that have none.
var openDevice func() (device, error)

// accelerator is a device that is opened while other work is done, and that is given up at the first error.
type accelerator struct {
	opened    chan struct{} // closed when dev and err are set
	dev       device
	note      func(line string) // may be nil
	preloaded chan struct{}     // nil, or closed when the reads of preload are loaded

	loaded  *Reads  // the reads on the device, if they stay in memory; set before preloaded is closed
	indexed *window // the window of which the device has the index

	mu  sync.Mutex
	err error // why the device is not used
}

// startAccelerator begins to open the device. It returns nil if the program has none.
func startAccelerator(note func(line string)) *accelerator {
	if openDevice == nil {
		return nil
	}
	a := &accelerator{opened: make(chan struct{}), note: note}
	go func() {
		defer close(a.opened)
		var err error
		if a.dev, err = openDevice(); err != nil {
			a.giveUp(err)
		}
	}()
	return a
}

// usable waits until the device is open, and reports whether it can be used.
func (a *accelerator) usable() bool {
	if a == nil {
		return false
	}
	<-a.opened
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err == nil
}

// giveUp notes an error. The device is not used any more.
func (a *accelerator) giveUp(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return
	}
	a.err = err
	if a.note != nil {
		a.note(fmt.Sprintf("the GPU is not used any more, the CPU lays out the reads: %v", err))
	}
}

// preload begins to load reads that stay in memory and don't change, while other work is done.
func (a *accelerator) preload(rd *Reads) {
	if a == nil {
		return
	}
	a.preloaded = make(chan struct{})
	go func() {
		defer close(a.preloaded)
		if a.usable() && rd.Count() > 0 {
			a.loadReads(rd, true)
		}
	}()
}

// loadReads loads reads. If stay is set, they are not loaded again the next time; they must not change.
func (a *accelerator) loadReads(rd *Reads, stay bool) {
	if stay && a.loaded == rd {
		return
	}
	a.loaded = nil
	if err := a.dev.loadReads(rd); err != nil {
		a.giveUp(err)
	} else if stay {
		a.loaded = rd
	}
}

// prepare loads what placing rd on a window of seq needs, and reports whether the device can be used. See loadReads for stay.
func (a *accelerator) prepare(rd *Reads, seq *sequence, w *window, stay bool) bool {
	if a == nil || rd.Count() == 0 {
		return false
	}
	a.wait()
	if a.usable() {
		a.loadReads(rd, stay)
	}
	if a.usable() && a.indexed != w {
		a.indexed = w
		if err := a.dev.buildIndex(seq, w); err != nil {
			a.giveUp(err)
		}
	}
	return a.usable()
}

// forget drops the reference to a window, whose index takes memory.
func (a *accelerator) forget(w *window) {
	if a != nil && a.indexed == w {
		a.indexed = nil
	}
}

// wait waits until the device is open and the reads of preload are loaded.
func (a *accelerator) wait() {
	<-a.opened
	if a.preloaded != nil {
		<-a.preloaded
	}
}

// close waits until the device is open, and closes it.
func (a *accelerator) close() {
	if a == nil {
		return
	}
	a.wait()
	a.loaded = nil
	if a.dev != nil {
		if err := a.dev.close(); err != nil {
			a.giveUp(err)
		}
	}
}
