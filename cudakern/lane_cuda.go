//go:build cuda

package cudakern

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"orcomgo/minimizer"
)

// Events of a block, between which Result's times are measured, and two for Profile.
const (
	evBegin = iota
	evLines
	evTable
	evStored
	evColumns
	evGathered
	evDone
	evProfile
	events = evProfile + 2
)

// textPad is readable device memory before and after the text: the kernels load whole words.
const textPad = 256

// Lane is what one block needs on the device: a CUDA stream with its own memory, which grows as
// blocks need. A lane is used by one goroutine at a time.
type Lane struct {
	// Profile, if not nil, gets the milliseconds of each kernel, which then run one at a time.
	Profile map[string]float64

	dev         *Device
	stream      cu.Stream
	events      [events]cu.Event
	pinnedWords []byte // pinned: the step word, the info words

	text, ends, state, info, counts               buffer
	lens, nameAt, qualAt, runs, place, codes      buffer // input order
	keyA, keyB, orderA, orderB                    buffer
	storedPlace, packedAt, basesAt, binAt, bins   buffer
	packed, exceptions, nameText, qualText, table buffer
	lineRoom, recordRoom, stateUsed, stateRoom    int
	coding                                        coding
	inflaters                                     [Inflaters]*Inflater
}

// NewLane makes a lane for blocks of about blockSize bytes of text. The table is what
// Columns.Map maps qualities by. The error wraps ErrMemory if there is too little memory.
func (d *Device) NewLane(blockSize int, table *[256]byte) (_ *Lane, err error) {
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	l := &Lane{dev: d}
	defer func() {
		if err != nil {
			l.release()
		}
	}()
	if l.stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return nil, fmt.Errorf("making a CUDA stream: %w", outOfMemory(err))
	}
	for i := range l.events {
		if l.events[i], err = cu.MakeEvent(cu.DefaultEvent); err != nil {
			return nil, fmt.Errorf("making a CUDA event: %w", outOfMemory(err))
		}
	}
	if l.pinnedWords, err = allocPinned(smallSize); err != nil {
		return nil, err
	}
	if err = l.info.grow(4*infoSlots, "counters"); err != nil {
		return nil, err
	}
	// A 100 bp record takes about 250 bytes; blocks of shorter ones make the lane grow.
	if err = l.text.grow(blockSize+2*textPad, "the text"); err != nil {
		return nil, err
	}
	if err = l.roomForLines(blockSize / 40); err != nil {
		return nil, err
	}
	if err = l.roomForRecords(blockSize / 160); err != nil {
		return nil, err
	}
	if err = l.roomForColumns(blockSize/8, blockSize/4, blockSize/2); err != nil {
		return nil, err
	}
	if err = l.roomForSums(blockSize); err != nil {
		return nil, err
	}
	if err = l.roomForCoding(blockSize/160, blockSize/4, blockSize/2); err != nil {
		return nil, err
	}
	if err = l.table.grow(256, "the table of qualities"); err != nil {
		return nil, err
	}
	copy(l.pinnedWords[smallTable:], table[:])
	if err = cu.MemcpyHtoDAsync(l.table.ptr, unsafe.Pointer(unsafe.SliceData(l.pinnedWords[smallTable:])), 256, l.stream); err != nil {
		return nil, cudaError("copying the table of qualities", err)
	}
	d.mu.Lock()
	d.lanes[l] = true
	d.mu.Unlock()
	return l, nil
}

// The lane's small pinned memory: the step word, the info words, the table of qualities.
const (
	smallInfo  = 64
	smallTable = 256
	smallSize  = 4096
)

// outOfMemory returns an error of CUDA, which wraps ErrMemory as well if it is for want of memory.
func outOfMemory(err error) error {
	if errors.Is(err, cu.OutOfMemory) {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return err
}

func (l *Lane) stepAddress() uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(l.pinnedWords))))
}

func (l *Lane) setStep(k kernel) {
	*(*uint32)(unsafe.Pointer(unsafe.SliceData(l.pinnedWords))) = uint32(k)
}

func (l *Lane) step() uint32 { return *(*uint32)(unsafe.Pointer(unsafe.SliceData(l.pinnedWords))) }

// infoWords is where the info array is copied to.
func (l *Lane) infoWords() *[infoSlots]uint32 {
	return (*[infoSlots]uint32)(unsafe.Pointer(unsafe.SliceData(l.pinnedWords[smallInfo:])))
}

// roomForLines makes room for so many lines.
func (l *Lane) roomForLines(lines int) error {
	err := l.ends.grow(4*lines+16, "line ends")
	l.lineRoom = max(0, (l.ends.size-16)/4)
	return err
}

// roomForState makes room for the running totals' words of so many tiles and scans.
func (l *Lane) roomForState(words int) error {
	if err := l.state.grow(8*words, "running totals"); err != nil {
		return err
	}
	l.stateRoom = l.state.size / 8
	return nil
}

// clearState zeroes so many words for the scans that follow on the stream.
func (l *Lane) clearState(words int) error {
	if err := l.roomForState(words); err != nil {
		return err
	}
	l.stateUsed = 0
	return cudaError("clearing running totals", cu.MemsetD8Async(l.state.ptr, 0, int64(8*words), l.stream))
}

// tileState returns the address of the state of one scan.
func (l *Lane) tileState(tiles int) (uint64, error) {
	at := l.stateUsed
	l.stateUsed += tiles + 1
	if l.stateUsed > l.stateRoom {
		return 0, errors.New("running totals have no room")
	}
	return l.state.at() + 8*uint64(at), nil
}

// roomForRecords makes room for the columns of n records.
func (l *Lane) roomForRecords(n int) error {
	if n < l.recordRoom {
		return nil
	}
	l.recordRoom = 0 // if some of the buffers can't grow, what was in them is lost
	for _, b := range []*buffer{&l.lens, &l.nameAt, &l.qualAt, &l.runs, &l.place, &l.keyA, &l.keyB, &l.orderA, &l.orderB,
		&l.storedPlace, &l.packedAt, &l.basesAt, &l.binAt} {
		if err := b.grow(4*n+64, "the record table"); err != nil {
			return err
		}
	}
	if err := l.codes.grow(n+64, "the record table"); err != nil {
		return err
	}
	if err := l.bins.grow(12*min(n, minimizer.None+1)+16, "the bins"); err != nil {
		return err
	}
	l.recordRoom = n
	return nil
}

// roomForColumns makes room for packed bases, names and qualities.
func (l *Lane) roomForColumns(packed, names, quals int) error {
	if err := l.packed.grow(packed+64, "packed bases"); err != nil {
		return err
	}
	if err := l.nameText.grow(names+64, "names"); err != nil {
		return err
	}
	return l.qualText.grow(quals+64, "qualities")
}

// Settle waits until all that was queued on the lane's streams is done.
func (l *Lane) Settle() error {
	leave, err := l.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	return l.settle()
}

func (l *Lane) settle() error {
	err := cudaError("waiting for a stream", l.stream.Synchronize())
	for _, f := range l.inflaters {
		if f != nil {
			err = errors.Join(err, cudaError("waiting for a stream", f.stream.Synchronize()))
		}
	}
	return err
}

// forget makes the lane's memory on the device that of its context, with which it is freed.
func (l *Lane) forget() {
	for _, b := range l.buffers() {
		b.forget()
	}
	for _, f := range l.inflaters {
		if f != nil {
			for _, b := range f.buffers() {
				b.forget()
			}
		}
	}
}

// buffers returns the lane's memory on the device, but for that of its inflaters.
func (l *Lane) buffers() []*buffer {
	return append(l.coding.buffers(), &l.text, &l.ends, &l.state, &l.info, &l.counts, &l.lens, &l.nameAt, &l.qualAt, &l.runs,
		&l.place, &l.codes, &l.keyA, &l.keyB, &l.orderA, &l.orderB, &l.storedPlace, &l.packedAt, &l.basesAt, &l.binAt, &l.bins, &l.packed,
		&l.exceptions, &l.nameText, &l.qualText, &l.table)
}

// Close waits for the lane's stream and frees its memory.
func (l *Lane) Close() error {
	leave, err := l.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	l.dev.mu.Lock()
	delete(l.dev.lanes, l)
	l.dev.mu.Unlock()
	return l.release()
}

func (l *Lane) release() error {
	var first error
	keep := func(err error) {
		if err != nil && first == nil {
			first = err
		}
	}
	if l.stream != (cu.Stream{}) {
		keep(cudaError("ending a stream", l.stream.Synchronize()))
	}
	for _, b := range l.buffers() {
		keep(b.free())
	}
	for _, f := range l.inflaters {
		if f != nil {
			keep(f.release())
		}
	}
	keep(cudaError("freeing pinned memory", freePinned(l.pinnedWords)))
	for i := range l.events {
		if l.events[i] != (cu.Event{}) {
			keep(cudaError("ending an event", cu.DestroyEvent(&l.events[i])))
		}
	}
	if l.stream != (cu.Stream{}) {
		keep(cudaError("ending a stream", l.stream.Destroy()))
	}
	l.pinnedWords = nil
	return first
}

func cudaError(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: CUDA error %w", what, err)
}
