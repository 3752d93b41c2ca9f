package overlap

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// device is an accelerator that lays out reads. Its results are those of the CPU, bit for bit. partners and endJoining are called by
// one goroutine at a time, and so are the other methods. An error that wraps errDeviceMemory means that there is too little memory for a
// step; the device can be used for others.
type device interface {
	// memory returns how many bytes of memory the device had when it was opened.
	memory() uint64
	// loadReads copies reads to the device, in place of those that are there. All places are by record.
	loadReads(rd *Reads) error
	// buildIndex copies a sequence to the device and indexes the k-mers of a window of it, in place of what is there.
	buildIndex(seq *sequence, w *window) error
	// place does what builder.placeAll does with the loaded reads. It copies the places of all from in to out, in place of what is
	// there. poor is nil or has a bit for each record. After an error, what is in out is undefined.
	place(w *window, retry retryRule, in *placements, poor []uint64, out *placements, progress func(done int)) error
	// partners does what kmerGroups.fill and joiner.partners do: it returns the link of each contig to its partner, the comparisons that
	// each may still make (the set keeps those of before), and how many were made.
	partners(j *joiner, by sampler) (links []link, left []uint32, compared int, err error)
	// endJoining frees the memory that partners took.
	endJoining() error
	// vote does what builder.vote does with the loaded reads, whose places pl has, and copies the bases of the sequence to voted. If poor is
	// not nil, it does what builder.selectPoor does as well: poor gets a bit for each poorly placed read, whatever letters it has, and
	// mismatches become those after that. The index is lost. After an error, what was copied is undefined.
	vote(seq *sequence, pl *placements, voted []byte, poor []uint64, mismatches []uint8) error
	// close frees what the device has.
	close() error
}

// errDeviceMemory means that a device has too little memory for a step.
var errDeviceMemory = errors.New("too little memory")

// deviceStep is what a device may be too small for. Then the CPU does it, and the device the other steps.
type deviceStep int

const (
	stepPlace deviceStep = iota
	stepJoin
	stepVote
	deviceSteps
)

var doesStep = [deviceSteps]string{"places reads", "joins contigs", "counts votes"}

// runBytes is what a run of letters other than A, C, G and T takes while reads are loaded.
const runBytes = 12

// deviceReadBytes is what a device needs for a read and its place, besides its bases and, if lengths vary, twelve bytes.
const deviceReadBytes = 16

// spareEighthBytes is the memory of the spare places of a read, in eighths of a byte. They take the place of an index in workBytes.
const spareEighthBytes = 41

// The device places so many reads at least, joins contigs of so many bases, and has so many reads vote: with fewer, the CPU is faster.
const (
	leastPlaced = 1 << 16
	leastJoined = 1 << 21
	leastVoters = 1 << 19
)

// accelerator is a device that is opened while other work is done, and that is given up at the first error that is not for want of memory.
type accelerator struct {
	opened    chan struct{} // closed when dev is set, or given up
	dev       device
	note      func(line string)
	lost      atomic.Bool   // the device is not used any more
	noted     sync.Once     // that it has too little memory for a step
	always    bool          // tests: the device does steps however small they are
	preloaded chan struct{} // nil, or closed when the reads of preload are loaded

	loaded  *Reads     // the reads on the device; set before preloaded is closed
	indexed *window    // the window of which the device has the index
	spare   placements // to which the device copies the places of reads

	without [deviceSteps]atomic.Bool // the device has too little memory for the step
}

// startAccelerator begins to open the device. It returns nil if the program has none.
func startAccelerator(c Config) *accelerator {
	open := openDevice
	if c.testDevice != nil {
		open = c.testDevice
	}
	if open == nil {
		return nil
	}
	a := &accelerator{opened: make(chan struct{}), note: c.Note, always: c.deviceAlways}
	if a.note == nil {
		a.note = func(string) {}
	}
	go func() {
		defer close(a.opened)
		var err error
		if a.dev, err = open(); err != nil {
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
	return !a.lost.Load()
}

// can waits until the device is open, and reports whether it can be used for a step.
func (a *accelerator) can(step deviceStep) bool { return a.usable() && !a.without[step].Load() }

// giveUp has the device not used any more, because of an error. The first one is noted.
func (a *accelerator) giveUp(err error) {
	if !a.lost.Swap(true) {
		a.note(fmt.Sprintf("the GPU is not used any more, the CPU lays out the reads: %v", err))
	}
}

// failed notes an error of a step. If it is for want of memory, the device is not used for this step any more, else not at all.
func (a *accelerator) failed(step deviceStep, err error) {
	if !errors.Is(err, errDeviceMemory) {
		a.giveUp(err)
		return
	}
	a.without[step].Store(true)
	a.noted.Do(func() { a.note(fmt.Sprintf("the GPU has too little memory, the CPU %s: %v", doesStep[step], err)) })
}

// preload begins to load reads while other work is done.
func (a *accelerator) preload(rd *Reads) {
	if a == nil {
		return
	}
	a.preloaded = make(chan struct{})
	go func() {
		defer close(a.preloaded)
		if rd.Count() > 0 {
			a.loadReads(rd)
		}
	}()
}

// loadReads loads reads, unless they are loaded, and reports whether they are. They must not change.
func (a *accelerator) loadReads(rd *Reads) bool {
	if !a.can(stepPlace) {
		return false
	}
	if a.loaded == rd {
		return true
	}
	a.loaded = nil
	runs := rd.exceptions.Len()
	bytes := uint64(len(rd.packed)) + deviceReadBytes*uint64(rd.Count()) + runBytes*uint64(runs+len(rd.lengths))
	if bytes > a.dev.memory()/2 {
		a.failed(stepPlace, fmt.Errorf("%w: %d reads with %d runs of letters other than A, C, G and T", errDeviceMemory, rd.Count(), runs))
		return false
	}
	if err := a.dev.loadReads(rd); err != nil {
		a.failed(stepPlace, err)
		return false
	}
	a.loaded = rd
	return true
}

// ready waits until the reads of a builder are loaded, and reports whether the device can do a step for which it needs them: if all are in
// memory, there are so many at least, and there is memory for their spare places.
func (a *accelerator) ready(b *builder, step deviceStep, least int) bool {
	rd := b.allReads
	if a == nil || rd == nil || !a.worth(rd.Count(), least) || spareEighthBytes*uint64(rd.Count())/8 > b.workBytes {
		return false
	}
	a.wait()
	return a.can(step) && a.loadReads(rd)
}

// worth reports whether a step of so many reads or bases is large enough for the device.
func (a *accelerator) worth(n, least int) bool { return n >= least || a.always && n > 0 }

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
	a.loaded, a.spare = nil, placements{}
	if a.dev != nil {
		if err := a.dev.close(); err != nil {
			a.giveUp(err)
		}
	}
}
