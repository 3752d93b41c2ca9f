package overlap

import (
	"errors"
	"fmt"
	"sync/atomic"

	"orcomgo/internal/failover"
)

// device is an accelerator that lays out reads. Its results are those of the CPU, bit for bit. partners and endJoining are called by
// one goroutine at a time, and so are the other methods. An error that wraps errDeviceMemory means that there is too little memory for a
// step; the device can be used for others.
type device interface {
	// memory returns how many bytes of memory the device had when it was opened.
	memory() uint64
	// loadReads copies reads to the device, in place of those that are there. Their places are known by record if byRecord is set, else
	// by their numbers.
	loadReads(rd *Reads, byRecord bool) error
	// buildIndex copies a sequence to the device and indexes the k-mers of a window of it, in place of what is there.
	buildIndex(seq *sequence, w *window) error
	// place does what builder.placeAll does with the loaded reads. It copies the places of all from in to out, in place of what is
	// there. poor is nil or has a bit for each read. After an error, what is in out is undefined.
	place(w *window, retry retryRule, in *placements, poor []uint64, out *placements, progress func(done int)) error
	// partners does what kmerGroups.fill and joiner.partners do: it returns the link of each contig to its partner, the comparisons that
	// each may still make (the set keeps those of before), and how many were made.
	partners(j *joiner, by sampler) (links []link, left []uint32, compared int, err error)
	// endJoining frees the memory that partners took.
	endJoining() error
	// beginVotes copies a sequence to the device, for the loaded reads, and those that are loaded after them, to vote on its bases; if poor is
	// set, to find the poorly placed ones as well. It returns on how many positions they can vote at a time. The index is lost.
	beginVotes(seq *sequence, poor bool) (window int, err error)
	// countVotes adds the votes of the loaded reads on positions lo..hi-1, of which lo is a multiple of the window. first is set for the first
	// reads that do. pl has their places, or is nil if they are those of the call before.
	countVotes(pl *placements, lo, hi int, first bool) error
	// decideVotes sets these positions to the most frequent bases.
	decideVotes(lo, hi int) error
	// selectPoor does what builder.selectPoor does with the loaded reads, after all votes. pl is as for countVotes. poor gets a bit for each
	// poorly placed read, whatever letters it has, mismatches become those after that.
	selectPoor(pl *placements, poor []uint64, mismatches []uint8) error
	// endVotes copies the bases from the device, unless voted is nil, and frees memory.
	endVotes(voted []byte) error
	// cover finds which of the first n bases of the pseudogenome the loaded reads cover, whose places are known by record. If not all are, it
	// adds these to covered, and pos become the positions of in if only they are kept.
	cover(n int, in *placements, covered *bitset, pos []uint32) (uncovered bool, err error)
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

// maxDeviceParts is in how many parts the reads of a share are loaded at most.
const maxDeviceParts = 64

// deviceReadBytes is what a device needs for a read and its place, besides its bases and, if lengths vary, twelve bytes.
const deviceReadBytes = 16

// spareEighthBytes is the memory of the spare places of a read, in eighths of a byte. They take the place of an index in workBytes.
const spareEighthBytes = 41

// The device places so many reads at least, joins contigs of so many bases, and has so many reads vote: with fewer, the CPU is faster.
// Tests change them.
var (
	leastPlaced        = 1 << 16
	leastJoined uint64 = 1 << 21
	leastVoters        = 1 << 19
)

// openDevice opens the device. It is nil in programs that have none.
var openDevice func() (device, error)

// accelerator is a device that is opened while other work is done, and that is given up at the first error that is not for want of memory.
type accelerator struct {
	opened    chan struct{} // closed when dev is set, or given up
	dev       device
	state     *failover.State
	preloaded chan struct{} // nil, or closed when the reads of preload are loaded

	loaded  *Reads     // the reads on the device, if they stay in memory; set before preloaded is closed
	indexed *window    // the window of which the device has the index
	spare   placements // to which the device copies the places of reads that stay in memory

	without [deviceSteps]atomic.Bool // the device has too little memory for the step
}

// startAccelerator begins to open the device. It returns nil if the program has none.
func startAccelerator(note func(line string)) *accelerator {
	if openDevice == nil {
		return nil
	}
	a := &accelerator{opened: make(chan struct{}), state: failover.New(note)}
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
	return !a.state.Failed()
}

// can waits until the device is open, and reports whether it can be used for a step.
func (a *accelerator) can(step deviceStep) bool { return a.usable() && !a.without[step].Load() }

// giveUp has the device not used any more, because of an error.
func (a *accelerator) giveUp(err error) {
	a.state.GiveUp(fmt.Sprintf("the GPU is not used any more, the CPU lays out the reads: %v", err))
}

// failed notes an error of a step. If it is for want of memory, the device is not used for this step any more, else not at all.
func (a *accelerator) failed(step deviceStep, err error) {
	if !errors.Is(err, errDeviceMemory) {
		a.giveUp(err)
		return
	}
	a.without[step].Store(true)
	a.state.Note(fmt.Sprintf("the GPU has too little memory, the CPU %s: %v", doesStep[step], err))
}

// preload begins to load reads that stay in memory and don't change, while other work is done, if the device has room for all.
func (a *accelerator) preload(rd *Reads) {
	if a == nil {
		return
	}
	a.preloaded = make(chan struct{})
	go func() {
		defer close(a.preloaded)
		if a.usable() && rd.Count() > 0 && a.partsOf(rd) == 1 {
			a.loadReads(rd, true)
		}
	}()
}

// loadReads loads reads, and reports whether it has. If stay is set, they are not loaded again the next time; they must not change.
func (a *accelerator) loadReads(rd *Reads, stay bool) bool {
	if !a.can(stepPlace) {
		return false
	}
	if stay && a.loaded == rd {
		return true
	}
	a.loaded = nil
	if runBytes*uint64(rd.exceptions.Len()) > rd.bytes()/4 {
		a.failed(stepPlace, fmt.Errorf("%w: %d runs of letters other than A, C, G and T", errDeviceMemory, rd.exceptions.Len()))
		return false
	}
	if err := a.dev.loadReads(rd, stay); err != nil {
		a.failed(stepPlace, err)
		return false
	}
	if stay {
		a.loaded = rd
	}
	return true
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
	a.loaded, a.spare = nil, placements{}
	if a.dev != nil {
		if err := a.dev.close(); err != nil {
			a.giveUp(err)
		}
	}
}
