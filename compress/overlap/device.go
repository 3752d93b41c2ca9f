package overlap

import (
	"errors"
	"fmt"
	"sync"
)

// device is an accelerator that lays out reads. Its results are those of the CPU, bit for bit. Its methods may be called from
// any goroutine, but loadReads, buildIndex and vote not at the same time as place or each other. An error that wraps errDeviceMemory means
// that there is too little memory for a step; the device can be used for others.
type device interface {
	// loadReads copies reads to the device, in place of those that are there.
	loadReads(rd *Reads) error
	// buildIndex copies a sequence to the device and indexes the k-mers of a window of it, in place of what is there.
	buildIndex(seq *sequence, w *window) error
	// place searches for the places of reads, those with the numbers in indices, as placer.place does. The slices have as many elements: an
	// element of positions becomes Unplaced if no place is found; else that of outcomes becomes the number of mismatches, and
	// deviceReversed.
	place(mode placeMode, indices []uint32, limits []uint8, positions []uint32, outcomes []uint16) error
	// partners does what kmerGroups.fill and joiner.partners do: it returns the link of each contig to its partner, the comparisons that
	// each may still make (the set keeps those of before), and how many were made.
	partners(j *joiner, by sampler) (links []link, left []uint32, compared int, err error)
	// endJoining frees the memory that partners took.
	endJoining() error
	// vote does what builder.vote does with the loaded reads, or, if poor is not nil, builder.voteAndSelectPoor. It returns the packed bases
	// after that, and mismatches by record if poor is not nil. It changes neither seq nor pl.
	vote(rd *Reads, seq *sequence, pl *placements, poor *bitset) (voted []byte, mismatches []uint8, err error)
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

// The device joins contigs of so many bases at least, and has so many reads vote: with fewer, the CPU is faster. Tests change them.
var (
	leastJoined uint64 = 1 << 21
	leastVoters        = 1 << 19
)

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

	mu      sync.Mutex
	err     error             // why the device is not used
	without [deviceSteps]bool // the device has too little memory for the step
	noted   bool
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

// can waits until the device is open, and reports whether it can be used for a step.
func (a *accelerator) can(step deviceStep) bool {
	if !a.usable() {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.without[step]
}

// giveUp notes an error. The device is not used any more.
func (a *accelerator) giveUp(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return
	}
	a.err = err
	a.say(fmt.Sprintf("the GPU is not used any more, the CPU lays out the reads: %v", err))
}

// failed notes an error of a step. If it is for want of memory, the device is not used for this step any more, else not at all.
func (a *accelerator) failed(step deviceStep, err error) {
	if !errors.Is(err, errDeviceMemory) {
		a.giveUp(err)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.without[step] = true
	a.say(fmt.Sprintf("the GPU has too little memory, the CPU %s: %v", doesStep[step], err))
}

// say calls note, at most once. a.mu is held.
func (a *accelerator) say(line string) {
	if a.note != nil && !a.noted {
		a.noted = true
		a.note(line)
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
	if runBytes*uint64(rd.exceptions.Len()) > rd.bytes()/4 {
		a.failed(stepPlace, fmt.Errorf("%w: %d runs of letters other than A, C, G and T", errDeviceMemory, rd.exceptions.Len()))
		return
	}
	if err := a.dev.loadReads(rd); err != nil {
		a.failed(stepPlace, err)
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
	if a.can(stepPlace) {
		a.loadReads(rd, stay)
	}
	if a.can(stepPlace) && a.indexed != w {
		a.indexed = w
		if err := a.dev.buildIndex(seq, w); err != nil {
			a.failed(stepPlace, err)
		}
	}
	return a.can(stepPlace)
}

// partners does what kmerGroups.fill and joiner.partners do, if the device can and it is worth it. Else ok is false.
func (a *accelerator) partners(j *joiner, by sampler) (links []link, ok bool) {
	if a == nil || j.set.bases < leastJoined || !a.can(stepJoin) {
		return nil, false
	}
	links, left, compared, err := a.dev.partners(j, by)
	if err != nil {
		a.failed(stepJoin, err)
		a.endJoining()
		return nil, false
	}
	j.set.left = left
	j.compared += compared
	return links, true
}

// endJoining frees the device's memory for joining.
func (a *accelerator) endJoining() {
	if a.usable() {
		if err := a.dev.endJoining(); err != nil {
			a.giveUp(err)
		}
	}
}

// vote does what builder.vote does or, with selectPoor, builder.voteAndSelectPoor, if the device can and it is worth it.
func (a *accelerator) vote(b *builder, selectPoor bool) bool {
	rd := b.allReads
	if a == nil || rd == nil || rd.Count() < leastVoters {
		return false
	}
	a.wait()
	if a.can(stepPlace) {
		a.loadReads(rd, true)
	}
	if a.loaded != rd || !a.can(stepVote) {
		return false
	}
	var poor *bitset
	if selectPoor {
		x := newBitset(b.records.count)
		poor = &x
	}
	voted, mismatches, err := a.dev.vote(rd, &b.seq, b.placements, poor)
	if err != nil {
		a.failed(stepVote, err)
		return false
	}
	copy(b.seq.packed, voted)
	if poor != nil {
		b.placements.mismatches, b.poor = mismatches, *poor
	}
	b.voted = true
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
	a.loaded = nil
	if a.dev != nil {
		if err := a.dev.close(); err != nil {
			a.giveUp(err)
		}
	}
}
