//go:build cuda

package cudakern

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"gorgonia.org/cu"
)

// inflater is what a lane needs to inflate.
type inflater struct {
	compressed, members, status buffer // status: the first bad member, then a word a member
	room                        int    // for compressed bytes
	words                       []byte // pinned: the member table, then what status is copied to
	queued                      int    // members, since Inflated
}

// inflatePad is readable device memory behind the compressed bytes: the kernel loads whole words.
const inflatePad = 64

const memberSize = int(unsafe.Sizeof(Member{}))

func (f *inflater) release() error {
	err := errors.Join(f.compressed.free(), f.members.free(), f.status.free(), cudaError("freeing pinned memory", freePinned(f.words)))
	*f = inflater{}
	return err
}

// grow makes room for n members.
func (f *inflater) grow(n int) error {
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

// RoomForCompressed makes room for n compressed bytes. Those that the lane had are lost if it grows.
// The error wraps ErrMemory if there is too little memory.
func (l *Lane) RoomForCompressed(n int) error {
	leave, err := l.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := l.inflater.compressed.grow(n+inflatePad, "compressed bytes"); err != nil {
		return err
	}
	l.inflater.room = l.inflater.compressed.size - inflatePad
	return nil
}

// UploadCompressed queues the copying of p to the lane's compressed bytes, at an offset; there must
// be room. p must be memory of the device's Pin, and not change before the lane has been waited for.
func (l *Lane) UploadCompressed(p []byte, at int) error {
	if at < 0 || len(p) > l.inflater.room-at {
		return fmt.Errorf("%d compressed bytes at %d have no room", len(p), at)
	}
	if len(p) == 0 {
		return nil
	}
	leave, err := l.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	to := l.inflater.compressed.ptr + cu.DevicePtr(at)
	err = cu.MemcpyHtoDAsync(to, unsafe.Pointer(unsafe.SliceData(p)), int64(len(p)), l.stream)
	return cudaError("copying compressed bytes to the device", err)
}

// Inflate queues the inflating of members among the lane's compressed bytes to its text, which has
// room for length bytes. No other byte of the text changes. Inflated must be called
// before the next Inflate.
func (l *Lane) Inflate(members []Member, length int) error {
	f := &l.inflater
	if f.queued > 0 {
		return errors.New("members are being inflated already")
	}
	if length > l.TextRoom() {
		return fmt.Errorf("%d bytes of text have no room", length)
	}
	for i, m := range members {
		if m.Size > MaxMember || m.Length > MaxMember || uint64(m.From)+uint64(m.Size) > uint64(f.room) ||
			uint64(m.To)+uint64(m.Length) > uint64(length) {
			return fmt.Errorf("member %d of %d is not within %d compressed bytes and %d bytes of text: %+v", i, len(members), f.room, length, m)
		}
	}
	leave, err := l.dev.enter()
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
	l.setStep(kernelNone)
	f.queued = n // from here on the table is in use
	if err := errors.Join(
		cu.MemcpyHtoDAsync(f.members.ptr, unsafe.Pointer(unsafe.SliceData(f.words)), int64(n*memberSize), l.stream),
		cu.MemsetD32Async(f.status.ptr, math.MaxUint32, int64(n+1), l.stream),
	); err != nil {
		return cudaError("copying members to the device", err)
	}
	if err := l.launch(kernelInflate, threadBlocks(n, warps), f.compressed.at(), f.members.at(), uint64(n), uint64(l.textAt(0)),
		f.status.at()+4, f.status.at()); err != nil {
		return err
	}
	return cudaError("copying the outcomes of inflating",
		cu.MemcpyDtoHAsync(unsafe.Pointer(&f.words[n*memberSize]), f.status.ptr, int64(4*(n+1)), l.stream))
}

// Inflated waits for the lane and returns the first member of Inflate whose text is not right, and
// why; -1 if all are. The text of the others is right.
func (l *Lane) Inflated() (bad int, why InflateStatus, err error) {
	f := &l.inflater
	leave, err := l.dev.enter()
	if err != nil {
		return 0, 0, err
	}
	defer leave()
	if err := l.stream.Synchronize(); err != nil {
		return 0, 0, l.fault(err)
	}
	first, status := f.outcomes()
	f.queued = 0
	if int64(first) >= int64(len(status)) {
		return -1, InflateRight, nil
	}
	return int(first), status[first], nil
}

// outcomes returns what the kernel wrote, once the lane has been waited for.
func (f *inflater) outcomes() (first uint32, status []InflateStatus) {
	if f.queued == 0 {
		return 0, nil
	}
	words := unsafe.Slice((*uint32)(unsafe.Pointer(&f.words[f.queued*memberSize])), f.queued+1)
	return words[0], unsafe.Slice((*InflateStatus)(&words[1]), f.queued)
}
