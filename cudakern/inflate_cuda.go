//go:build cuda

package cudakern

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
	lane                        *Lane
	stream                      cu.Stream
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
	if f := l.inflaters[i]; f != nil {
		return f, nil
	}
	leave, err := l.dev.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	f := &Inflater{lane: l}
	if f.stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return nil, fmt.Errorf("making a CUDA stream: %w", outOfMemory(err))
	}
	l.inflaters[i] = f
	return f, nil
}

// inflatePad is readable device memory behind the compressed bytes: the kernel loads whole words.
const inflatePad = 64

const memberSize = int(unsafe.Sizeof(Member{}))

func (f *Inflater) release() error {
	err := cudaError("ending a stream", f.stream.Synchronize())
	for _, b := range f.buffers() {
		err = errors.Join(err, b.free())
	}
	return errors.Join(err, cudaError("freeing pinned memory", freePinned(f.words)), cudaError("ending a stream", f.stream.Destroy()))
}

func (f *Inflater) buffers() []*buffer { return []*buffer{&f.compressed, &f.members, &f.status} }

// grow makes room for n members.
func (f *Inflater) grow(n int) error {
	if err := f.members.grow(n*memberSize, "members"); err != nil {
		return err
	}
	if err := f.status.grow(4*(n+1), "members"); err != nil {
		return err
	}
	size := n*memberSize + 4*(n+1)
	if size <= len(f.words) {
		return nil
	}
	if err := freePinned(f.words); err != nil {
		return cudaError("freeing pinned memory", err)
	}
	f.words = nil
	words, err := allocPinned(size + size/4)
	f.words = words
	return err
}

// RoomForCompressed makes room for n compressed bytes. Those that there were are lost if it grows.
// The error wraps ErrMemory if there is too little memory.
func (f *Inflater) RoomForCompressed(n int) error {
	leave, err := f.lane.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	old := f.compressed.size
	if err := f.compressed.grow(n+inflatePad, "compressed bytes"); err != nil {
		return err
	}
	f.room = f.compressed.size - inflatePad
	if f.compressed.size == old {
		return nil
	}
	// The kernel ignores what is behind the last byte of a word, but compute-sanitizer would report that it is read.
	return cudaError("clearing memory for compressed bytes",
		cu.MemsetD8Async(f.compressed.ptr, 0, int64(f.compressed.size), f.stream))
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
	leave, err := f.lane.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	to := f.compressed.ptr + cu.DevicePtr(at)
	err = cu.MemcpyHtoDAsync(to, unsafe.Pointer(unsafe.SliceData(p)), int64(len(p)), f.stream)
	return cudaError("copying compressed bytes to the device", err)
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
	leave, err := f.lane.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	n := len(members)
	if n == 0 {
		return nil
	}
	if err := f.grow(n); err != nil {
		return err
	}
	table := unsafe.Slice((*Member)(unsafe.Pointer(unsafe.SliceData(f.words))), n)
	copy(table, members)
	f.lane.setStep(kernelNone)
	f.queued = n // from here on the table is in use
	if err := errors.Join(
		cu.MemcpyHtoDAsync(f.members.ptr, unsafe.Pointer(unsafe.SliceData(f.words)), int64(n*memberSize), f.stream),
		cu.MemsetD32Async(f.status.ptr, math.MaxUint32, int64(n+1), f.stream),
	); err != nil {
		return cudaError("copying members to the device", err)
	}
	err = f.lane.launchOn(f.stream, kernelInflate, threadBlocks(n, warps), f.compressed.at(), f.members.at(), uint64(n),
		uint64(f.lane.textAt(0)), f.status.at()+4, f.status.at())
	if err != nil {
		return err
	}
	return cudaError("copying the outcomes of inflating",
		cu.MemcpyDtoHAsync(unsafe.Pointer(&f.words[n*memberSize]), f.status.ptr, int64(4*(n+1)), f.stream))
}

// Inflated waits for what was queued and returns the first member of Inflate whose text is not right, and
// why; -1 if all are. The text of the others is right.
func (f *Inflater) Inflated() (bad int, why InflateStatus, err error) {
	leave, err := f.lane.dev.enter()
	if err != nil {
		return 0, 0, err
	}
	defer leave()
	if err := f.stream.Synchronize(); err != nil {
		return 0, 0, f.lane.fault(err)
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
