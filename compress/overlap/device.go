package overlap

import (
	"errors"
	"fmt"
	"sync"
)

// device is an accelerator that lays out reads. Its results are those of the CPU, bit for bit. loadReads, buildIndex, place and vote are
// called by one goroutine at a time, and so are partners and endJoining. An error that wraps errDeviceMemory means that there is too little
// memory for a step; the device can be used for others.
type device interface {
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
	// vote does what builder.vote does with the loaded reads, whose places are known by record, or, if poor is not nil,
	// builder.voteAndSelectPoor. It returns the packed bases after that; if poor is not nil, mismatches by record become those after that.
	// It changes neither seq nor pl. The index is lost.
	vote(rd *Reads, seq *sequence, pl *placements, poor *bitset, mismatches []uint8) (voted []byte, err error)
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

// spareEighthBytes is the memory of the spare places of a read, in eighths of a byte. They take the place of an index in workBytes.
const spareEighthBytes = 41

// The device places so many reads at least, joins contigs of so many bases, and has so many reads vote: with fewer, the CPU is faster. Tests
// change them.
var (
	leastPlaced        = 1 << 16
	leastJoined uint64 = 1 << 21
	leastVoters        = 1 << 19
)

// openDevice opens the device. It is nil in programs that have none.
var openDevice func() (device, error)

// accelerator is a device that is opened while other work is done, and that is given up at the first error that is not for want of memory.
type accelerator struct {
	opened    chan struct{} // closed when dev and err are set
	dev       device
	note      func(line string) // may be nil
	preloaded chan struct{}     // nil, or closed when the reads of preload are loaded

	loaded  *Reads     // the reads on the device, if they stay in memory; set before preloaded is closed
	indexed *window    // the window of which the device has the index
	spare   placements // to which the device copies the places of reads that stay in memory

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
	if err := a.dev.loadReads(rd, stay); err != nil {
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
	if a == nil || j.set.count() == 0 || j.set.bases < leastJoined || !a.can(stepJoin) {
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
	if !a.canVote(rd) {
		return false
	}
	var poor *bitset
	if selectPoor {
		x := newBitset(b.records.count)
		poor = &x
	}
	if selectPoor && len(a.spare.mismatches) != len(b.placements.mismatches) {
		a.spare.mismatches = make([]uint8, len(b.placements.mismatches))
	}
	a.indexed = nil
	voted, err := a.dev.vote(rd, &b.seq, b.placements, poor, a.spare.mismatches)
	if err != nil {
		a.failed(stepVote, err)
		return false
	}
	copy(b.seq.packed, voted)
	if poor != nil {
		b.placements.mismatches, a.spare.mismatches = a.spare.mismatches, b.placements.mismatches
		b.poor = *poor
	}
	b.voted = true
	return true
}

// place does what builder.placeAll does, if the device can and it is worth it.
func (a *accelerator) place(b *builder, rd *Reads, w *window, retry retryRule, progress func(done int)) bool {
	all := rd == b.allReads
	if a == nil || rd.Count() < leastPlaced || all && spareEighthBytes*uint64(rd.Count())/8 > b.workBytes ||
		!a.prepare(rd, &b.seq, w, all) {
		return false
	}
	in, out := b.placements, &a.spare
	var poor []uint64
	switch {
	case all && retry == retryPoor:
		poor = b.poor.words
	case !all:
		in, poor = b.placesOf(rd, retry)
		out = newPlacements(rd.Count())
	}
	if n := len(in.pos); len(out.pos) != n || len(out.mismatches) != n || len(out.reversedBits) != len(in.reversedBits) {
		*out = placements{pos: make([]uint32, n), reversedBits: make([]uint32, len(in.reversedBits)), mismatches: make([]uint8, n)}
	}
	if err := a.dev.place(w, retry, in, poor, out, progress); err != nil {
		a.failed(stepPlace, err)
		return false
	}
	if all {
		*b.placements, a.spare = a.spare, *b.placements
	} else {
		b.setPlacesOf(rd, out)
	}
	return true
}

// placesOf returns the places of reads by their numbers, and, for retryPoor, which are in b.poor.
func (b *builder) placesOf(rd *Reads, retry retryRule) (pl *placements, poor []uint64) {
	pl = newPlacements(rd.Count())
	if retry == retryPoor {
		poor = make([]uint64, rd.Count()/64+1)
	}
	inParallel(b.config.Threads, rd.Count(), placeBatch, func(_, from, to int) { // a multiple of 64, so that no word is in two ranges
		for i := from; i < to; i++ {
			rec := rd.records[i]
			pl.pos[i], pl.mismatches[i] = b.placements.pos[rec], b.placements.mismatches[rec]
			if b.placements.reversed(rec) {
				pl.reversedBits[i>>5] |= 1 << (i & 31)
			}
			if poor != nil && b.poor.has(rec) {
				poor[i>>6] |= 1 << (i & 63)
			}
		}
	})
	return pl, poor
}

// setPlacesOf stores the places of reads, which are given by their numbers.
func (b *builder) setPlacesOf(rd *Reads, pl *placements) {
	inParallel(b.config.Threads, rd.Count(), placeBatch, func(_, from, to int) {
		for i := from; i < to; i++ {
			b.placements.set(rd.records[i], pl.pos[i], pl.reversed(uint32(i)), int(pl.mismatches[i]))
		}
	})
}

// canVote loads all reads, and reports whether the device can have them vote and it is worth it. rd is nil if they don't stay in memory.
func (a *accelerator) canVote(rd *Reads) bool {
	if a == nil || rd == nil || rd.Count() < leastVoters {
		return false
	}
	a.wait()
	if a.can(stepPlace) {
		a.loadReads(rd, true)
	}
	return a.loaded == rd && a.can(stepVote)
}

// cover finds which bases of the pseudogenome reads cover, if the device can and it is worth it. If there are others, it moves the
// placements to where they are without these, and returns the set; else that is nil.
func (a *accelerator) cover(b *builder) (covered *bitset, ok bool) {
	if b.allReads == nil || spareEighthBytes*uint64(b.allReads.Count())/8 > b.workBytes || !a.canVote(b.allReads) {
		return nil, false
	}
	set := newBitset(b.seq.n)
	if n := len(b.placements.pos); len(a.spare.pos) != n {
		a.spare.pos = make([]uint32, n)
	}
	uncovered, err := a.dev.cover(b.seq.n, b.placements, &set, a.spare.pos)
	if err != nil {
		a.failed(stepVote, err)
		return nil, false
	}
	if !uncovered {
		return nil, true
	}
	b.placements.pos, a.spare.pos = a.spare.pos, b.placements.pos
	return &set, true
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
