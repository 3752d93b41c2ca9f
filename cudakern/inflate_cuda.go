//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"gorgonia.org/cu"
)

// Inflater inflates to the text of its lane, on a CUDA stream of its own. One goroutine at a time uses
// it.
type Inflater struct {
	queue
	lane                        *Lane
	compressed, members, status buffer // status: the first bad member, then a word a member
	room                        int    // for compressed bytes
	words                       []byte // pinned: the member table, then what status is copied to
	queued                      int    // members, since Inflated
}

// Inflaters is how many a lane may have.
const Inflaters = 4

// Inflater returns one of the lane's, 0 to Inflaters-1. It is made when it is first asked for; the
// error may wrap ErrMemory.
func (l *Lane) Inflater(i int) (*Inflater, error) {
	if l.inflaters[i] == nil {
		f := &Inflater{lane: l}
		if err := f.open(l.dev); err != nil {
			return nil, err
		}
		l.inflaters[i] = f
	}
	return l.inflaters[i], nil
}

// inflatePad is readable device memory behind the compressed bytes: the kernel loads whole words.
const inflatePad = 64

const memberSize = int(unsafe.Sizeof(Member{}))

// Close waits for the stream and frees the memory.
func (f *Inflater) Close() error {
	err := f.do(f.wait) // before its memory is used for something else
	return errors.Join(err, f.do(func() { f.check("freeing pinned memory", freePinned(f.words)) }), f.queue.Close())
}

// growTable makes room for n members.
func (f *Inflater) growTable(n int) {
	f.grow(&f.members, n*memberSize, "members")
	f.grow(&f.status, 4*(n+1), "members")
	size := n*memberSize + 4*(n+1)
	if size <= len(f.words) || f.err != nil {
		return
	}
	f.check("freeing pinned memory", freePinned(f.words))
	f.words = nil
	if f.err == nil {
		f.words, f.err = allocPinned(size + size/4)
	}
}

// RoomForCompressed makes room for n compressed bytes. Those that there were are lost if it grows.
// The error wraps ErrMemory if there is too little memory.
func (f *Inflater) RoomForCompressed(n int) error {
	return f.do(func() {
		old := f.compressed.size
		f.grow(&f.compressed, n+inflatePad, "compressed bytes")
		f.room = max(f.compressed.size-inflatePad, 0)
		if f.compressed.size != old {
			// The kernel ignores what is behind the last byte of a word, but compute-sanitizer would report that it is read.
			f.set(f.compressed.at(), 0, f.compressed.size, "memory for compressed bytes")
		}
	})
}

// UploadCompressed queues the copying of p to the compressed bytes, at an offset; there must be room.
// p must be memory of Pin, and not change before Inflated.
func (f *Inflater) UploadCompressed(p []byte, at int) error {
	if at < 0 || len(p) > f.room-at {
		return fmt.Errorf("%d compressed bytes at %d have no room", len(p), at)
	}
	if len(p) == 0 {
		return nil
	}
	to := f.compressed.ptr + cu.DevicePtr(at)
	return f.do(func() {
		f.check("copying compressed bytes to the device",
			cu.MemcpyHtoDAsync(to, unsafe.Pointer(unsafe.SliceData(p)), int64(len(p)), f.stream))
	})
}

// Inflate queues the inflating of members among the compressed bytes to the lane's text, which has room
// for length bytes. No other byte of the text changes. Inflated must be called before the next
// Inflate.
func (f *Inflater) Inflate(members []Member, length int) error {
	if f.queued > 0 {
		return errors.New("members are being inflated already")
	}
	if length > f.lane.TextRoom() {
		return fmt.Errorf("%d bytes of text have no room", length)
	}
	for i, m := range members {
		if m.Size > MaxMember || m.Length > MaxMember || uint64(m.From)+uint64(m.Size) > uint64(f.room) ||
			uint64(m.To)+uint64(m.Length) > uint64(length) {
			return fmt.Errorf("member %d of %d is not within %d compressed bytes and %d bytes of text: %+v", i, len(members), f.room, length, m)
		}
	}
	n := len(members)
	if n == 0 {
		return nil
	}
	return f.do(func() {
		if f.growTable(n); f.err != nil {
			return
		}
		copy(unsafe.Slice((*Member)(unsafe.Pointer(unsafe.SliceData(f.words))), n), members)
		*f.step() = C.STEP_NONE
		f.queued = n // from here on the table is in use
		f.check("copying members to the device",
			cu.MemcpyHtoDAsync(f.members.ptr, unsafe.Pointer(unsafe.SliceData(f.words)), int64(n*memberSize), f.stream))
		f.setWords(f.status.at(), math.MaxUint32, n+1, "the outcomes of inflating")
		f.launch(C.STEP_INFLATE, threadBlocks(n, warps), f.compressed.at(), f.members.at(), uint64(n), f.lane.textAt(0),
			f.status.at()+4, f.status.at())
		f.fetch(f.words[n*memberSize:][:4*(n+1)], f.status.at(), "the outcomes of inflating")
	})
}

// Inflated waits for what was queued and returns the first member of Inflate whose text is not right, and
// why; -1 if all are. The text of the others is right.
func (f *Inflater) Inflated() (bad int, why InflateStatus, err error) {
	if err := f.do(f.wait); err != nil {
		return 0, 0, err
	}
	first, status := f.outcomes()
	f.queued = 0
	if int64(first) >= int64(len(status)) {
		return -1, InflateRight, nil
	}
	return int(first), status[first], nil
}

// outcomes returns what the kernel wrote, once that is done.
func (f *Inflater) outcomes() (first uint32, status []InflateStatus) {
	if f.queued == 0 {
		return 0, nil
	}
	words := unsafe.Slice((*uint32)(unsafe.Pointer(&f.words[f.queued*memberSize])), f.queued+1)
	return words[0], unsafe.Slice((*InflateStatus)(&words[1]), f.queued)
}
