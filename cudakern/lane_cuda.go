//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"errors"
	"unsafe"

	"orcomgo/minimizer"
)

// textPad is readable device memory before and after the text: the kernels load whole words.
const textPad = 256

// Lane is what one block needs on the device: a CUDA stream with its own memory, which grows as
// blocks need. A lane is used by one goroutine at a time.
type Lane struct {
	queue

	text, ends, info, counts                      buffer
	lens, nameAt, qualAt, runs, place, codes      buffer // input order
	keyA, keyB, orderA, orderB                    buffer
	storedPlace, packedAt, basesAt, binAt, bins   buffer
	packed, exceptions, nameText, qualText, table buffer
	lineRoom, recordRoom                          int
	coding                                        coding
	inflaters                                     [Inflaters]*Inflater
}

// NewLane makes a lane for blocks of about blockSize bytes of text. The table is what
// Columns.Map maps qualities by. The error wraps ErrMemory if there is too little memory.
func (d *Device) NewLane(blockSize int, table *[256]byte) (*Lane, error) {
	l := &Lane{}
	if err := l.open(d); err != nil {
		return nil, err
	}
	err := l.do(func() {
		l.grow(&l.info, 4*C.INFO_SLOTS, "counters")
		// A 100 bp record takes about 250 bytes; blocks of shorter ones make the lane grow.
		l.grow(&l.text, blockSize+2*textPad, "the text")
		l.roomForLines(blockSize / 40)
		l.roomForRecords(blockSize / 160)
		l.roomForColumns(blockSize/8, blockSize/4, blockSize/2)
		l.roomForSums(blockSize)
		l.roomForCoding(blockSize/160, blockSize/4, blockSize/2)
		replace(&l.queue, &l.table, table[:], 0, "the table of qualities")
	})
	if err != nil {
		l.queue.Close()
		return nil, err
	}
	d.mu.Lock()
	d.lanes[l] = true
	d.mu.Unlock()
	return l, nil
}

// infoAt is where in its pinned memory a lane has the info words.
const infoAt = 64

// infoWords is where the info array is copied to.
func (l *Lane) infoWords() *[C.INFO_SLOTS]uint32 {
	return (*[C.INFO_SLOTS]uint32)(unsafe.Pointer(unsafe.SliceData(l.pinned[infoAt:])))
}

// infoSlot returns the address of a word of the info array.
func (l *Lane) infoSlot(i int) uint64 { return l.info.at() + 4*uint64(i) }

// roomForLines makes room for so many lines.
func (l *Lane) roomForLines(lines int) {
	l.grow(&l.ends, 4*lines+16, "line ends")
	l.lineRoom = max(0, (l.ends.size-16)/4)
}

// roomForRecords makes room for the columns of n records.
func (l *Lane) roomForRecords(n int) {
	if n < l.recordRoom {
		return
	}
	l.recordRoom = 0 // if some of the buffers can't grow, what was in them is lost
	for _, b := range []*buffer{&l.lens, &l.nameAt, &l.qualAt, &l.runs, &l.place, &l.keyA, &l.keyB, &l.orderA, &l.orderB,
		&l.storedPlace, &l.packedAt, &l.basesAt, &l.binAt} {
		l.grow(b, 4*n+64, "the record table")
	}
	l.grow(&l.codes, n+64, "the record table")
	l.grow(&l.bins, 12*min(n, minimizer.None+1)+16, "the bins")
	if l.err == nil {
		l.recordRoom = n
	}
}

// roomForColumns makes room for packed bases, names and qualities.
func (l *Lane) roomForColumns(packed, names, quals int) {
	l.grow(&l.packed, packed+64, "packed bases")
	l.grow(&l.nameText, names+64, "names")
	l.grow(&l.qualText, quals+64, "qualities")
}

// queues returns the lane's own queue and those of its inflaters.
func (l *Lane) queues() []*queue {
	all := []*queue{&l.queue}
	for _, f := range l.inflaters {
		if f != nil {
			all = append(all, &f.queue)
		}
	}
	return all
}

// Settle waits until all that was queued on the lane's streams is done.
func (l *Lane) Settle() (err error) {
	for _, q := range l.queues() {
		err = errors.Join(err, q.do(func() { q.check("waiting for a stream", q.stream.Synchronize()) }))
	}
	return err
}

// Close waits for the lane's streams and frees its memory.
func (l *Lane) Close() (err error) {
	l.dev.mu.Lock()
	delete(l.dev.lanes, l)
	l.dev.mu.Unlock()
	for _, f := range l.inflaters {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return errors.Join(err, l.queue.Close())
}
