//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"gorgonia.org/cu"
)

// queue is a CUDA stream with what its work needs: the step word, memory on the device, and pinned memory through which data are copied.
// It is used by one goroutine at a time. Work is queued within do; after an error, nothing else is queued there.
type queue struct {
	dev     *Device
	stream  cu.Stream
	pinned  []byte    // the step word, and what else a queue keeps there
	buffers []*buffer // that had memory so far
	state   buffer    // of running totals
	total   buffer
	memory  buffer // of place
	copiers [copiers]copier
	err     error // the first one of do
}

// Data of smallCopy bytes or more are copied by several goroutines, through two pinned pieces each: one is copied to or from the device
// while the other is filled or emptied. A single copy from memory that is not pinned is several times slower.
const (
	copiers   = 4
	copyPiece = 1 << 20
	smallCopy = 1 << 18
)

// copier is what one of these goroutines has.
type copier struct {
	mem    []byte // pinned: two pieces
	events [2]cu.Event
	made   [2]bool
	used   [2]bool // the device may still read from the piece
}

// pinnedBytes is the size of the pinned memory of a queue.
const pinnedBytes = 4096

// overrun is how many bytes after packed bases the kernels may read.
const overrun = 16

// open makes the stream. The error wraps ErrMemory if there is too little memory.
func (q *queue) open(d *Device) error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	q.dev = d
	if q.stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return fmt.Errorf("making a CUDA stream: %w", outOfMemory(err))
	}
	if q.pinned, err = allocPinned(pinnedBytes); err != nil {
		q.stream.Destroy()
		return err
	}
	*q.step() = C.STEP_NONE
	return nil
}

// Close waits for the stream and frees the memory.
func (q *queue) Close() error {
	leave, err := q.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	err = errors.Join(cudaError("ending a stream", q.stream.Synchronize()), q.free())
	for i := range q.copiers {
		c := &q.copiers[i]
		for k := range c.events {
			if c.made[k] {
				err = errors.Join(err, cudaError("ending an event", cu.DestroyEvent(&c.events[k])))
			}
		}
		err = errors.Join(err, cudaError("freeing pinned memory", freePinned(c.mem)))
	}
	err = errors.Join(err, cudaError("freeing pinned memory", freePinned(q.pinned)), cudaError("ending a stream", q.stream.Destroy()))
	*q = queue{}
	return err
}

// free frees the memory on the device.
func (q *queue) free() (err error) {
	for _, b := range q.buffers {
		err = errors.Join(err, b.free())
	}
	return err
}

// forget makes the memory on the device that of its context, with which it is freed.
func (q *queue) forget() {
	for _, b := range q.buffers {
		b.forget()
	}
}

// do calls f, which queues work, where the device's context is current, and returns the first error of that.
func (q *queue) do(f func()) error {
	leave, err := q.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	q.err = nil
	f()
	return q.err
}

// check notes the error of a call of the driver, unless there was one before.
func (q *queue) check(what string, err error) {
	if q.err == nil {
		q.err = cudaError(what, err)
	}
}

// step is the step word, to which a kernel that begins writes its number.
func (q *queue) step() *uint32 { return (*uint32)(unsafe.Pointer(unsafe.SliceData(q.pinned))) }

// launch queues a kernel. Every parameter of the kernels takes 8 bytes; the last one, the address of the step word, is added here.
func (q *queue) launch(k kernel, blocks int, args ...uint64) {
	if blocks == 0 || q.err != nil {
		return
	}
	var values [16]uint64
	var at [16]unsafe.Pointer
	n := copy(values[:], args)
	values[n] = uint64(uintptr(unsafe.Pointer(q.step())))
	for i := range n + 1 {
		at[i] = unsafe.Pointer(&values[i])
	}
	if err := q.dev.functions[k].Launch(blocks, 1, 1, threads, 1, 1, 0, q.stream, at[:n+1]); err != nil {
		q.err = fmt.Errorf("kernel %v: CUDA error %w at its launch", k, err)
	}
}

// threadBlocks returns how many thread blocks are needed for n items, if each takes so many.
func threadBlocks(n, each int) int { return (n + each - 1) / each }

// wait waits until all that is queued is done.
func (q *queue) wait() {
	if q.err != nil {
		return
	}
	if err := q.stream.Synchronize(); err != nil {
		q.err = q.fault(err)
	}
}

// fault adds to an error of the stream the kernel that had started last.
func (q *queue) fault(err error) error {
	if k := kernel(*q.step()); k != C.STEP_NONE {
		return fmt.Errorf("kernel %v: CUDA error %w", k, err)
	}
	return fmt.Errorf("copying to the device: CUDA error %w", err)
}

// room makes room for exactly n bytes in a buffer, unless it has as many. Its content is lost then. what names the content in errors.
func (q *queue) room(b *buffer, n int, what string) {
	if b.size >= n || q.err != nil {
		return
	}
	if !b.listed {
		b.listed, q.buffers = true, append(q.buffers, b)
	}
	if q.err = b.free(); q.err == nil {
		q.err = b.allocate(n, what)
	}
}

// grow is room for a buffer that will have to grow again: it gets a fourth more, unless it is empty.
func (q *queue) grow(b *buffer, n int, what string) {
	if b.size > 0 && n > b.size {
		n += n / 4
	}
	q.room(b, n, what)
}

// room is a part of the memory of a queue: its address is set by place.
type room struct {
	at   *uint64
	size int
}

const roomAlign = 256 // of device memory

// place gives rooms their addresses, one after another, in memory that has as many bytes as needed. Nothing moves if it has them.
func (q *queue) place(rooms []room, what string) {
	total := 0
	for _, r := range rooms {
		total += (r.size + roomAlign - 1) / roomAlign * roomAlign
	}
	q.room(&q.memory, total, what)
	at := q.memory.at()
	for _, r := range rooms {
		*r.at = at
		at += uint64((r.size + roomAlign - 1) / roomAlign * roomAlign)
	}
}

// bytesOf returns the memory of a slice.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// replace copies data to a buffer, which gets at least its size and so many more bytes.
func replace[T any](q *queue, b *buffer, data []T, more int, what string) {
	bytes := bytesOf(data)
	q.room(b, len(bytes)+more, what)
	q.upload(b.at(), bytes, what)
}

// part is data of the host, and where they are on the device.
type part struct {
	at   uint64
	data []byte
}

// upload copies data to the device. It has been read when the call returns.
func (q *queue) upload(to uint64, data []byte, what string) {
	if len(data) == 0 || q.err != nil {
		return
	}
	if len(data) < smallCopy {
		q.check("copying "+what+" to the device",
			cu.MemcpyHtoDAsync(cu.DevicePtr(to), unsafe.Pointer(unsafe.SliceData(data)), int64(len(data)), q.stream))
		return
	}
	q.uploadAll([]part{{to, data}}, what)
}

// uploadAll is upload of several parts at once.
func (q *queue) uploadAll(parts []part, what string) {
	if q.err != nil {
		return
	}
	q.inPieces(parts, what, func(c *copier, k int, at uint64, data []byte) error {
		if c.used[k] {
			if err := c.events[k].Synchronize(); err != nil {
				return err
			}
		}
		p := c.mem[k*copyPiece:][:copy(c.mem[k*copyPiece:][:copyPiece], data)]
		err := cu.MemcpyHtoDAsync(cu.DevicePtr(at), unsafe.Pointer(unsafe.SliceData(p)), int64(len(p)), q.stream)
		if err != nil {
			return err
		}
		c.used[k] = true
		return c.events[k].Record(q.stream)
	})
}

// download copies data from the device, after all that is queued, and waits for it.
func (q *queue) download(data []byte, from uint64, what string) {
	if len(data) == 0 || q.err != nil {
		return
	}
	if len(data) < smallCopy {
		q.fetch(data, from, what)
		q.wait()
		return
	}
	q.downloadParts([]part{{from, data}}, what)
}

// downloadParts is download of several parts at once.
func (q *queue) downloadParts(parts []part, what string) {
	if q.wait(); q.err != nil { // so that what fails there is not taken for a failure of copying
		return
	}
	q.inPieces(parts, what, func(c *copier, k int, at uint64, data []byte) error {
		if c.used[k] {
			if err := c.events[k].Synchronize(); err != nil {
				return err
			}
			c.used[k] = false
		}
		p := c.mem[k*copyPiece:][:len(data)]
		err := cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(p)), cu.DevicePtr(at), int64(len(p)), q.stream)
		if err != nil {
			return err
		}
		if err := c.events[k].Record(q.stream); err != nil {
			return err
		}
		if err := c.events[k].Synchronize(); err != nil {
			return err
		}
		copy(data, p)
		return nil
	})
}

// fetch queues a copy from the device.
func (q *queue) fetch(data []byte, from uint64, what string) {
	if len(data) > 0 && q.err == nil {
		q.check("copying "+what+" from the device",
			cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(data)), cu.DevicePtr(from), int64(len(data)), q.stream))
	}
}

// move queues a copy of n bytes on the device.
func (q *queue) move(to, from uint64, n int, what string) {
	if n > 0 && q.err == nil {
		q.check("copying "+what, cu.MemcpyAsync(cu.DevicePtr(to), cu.DevicePtr(from), int64(n), q.stream))
	}
}

// set queues setting n bytes of the device to a value.
func (q *queue) set(at uint64, value byte, n int, what string) {
	if n > 0 && q.err == nil {
		q.check("setting "+what, cu.MemsetD8Async(cu.DevicePtr(at), value, int64(n), q.stream))
	}
}

// setWords is set for words of 32 bits.
func (q *queue) setWords(at uint64, value uint32, n int, what string) {
	if n > 0 && q.err == nil {
		q.check("setting "+what, cu.MemsetD32Async(cu.DevicePtr(at), uint(value), int64(n), q.stream))
	}
}

// inPieces calls f for pieces of parts from several goroutines: with a copier, which of its pieces to use, and a piece of a part.
func (q *queue) inPieces(parts []part, what string, f func(c *copier, k int, at uint64, data []byte) error) {
	var pieces []part
	for _, p := range parts {
		for data := range slices.Chunk(p.data, copyPiece) {
			pieces = append(pieces, part{p.at, data})
			p.at += copyPiece
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var errs [copiers]error
	for i := range q.copiers {
		wg.Go(func() {
			c := &q.copiers[i]
			leave, err := q.dev.enter()
			if err != nil {
				errs[i] = err
				return
			}
			defer leave()
			if errs[i] = c.open(); errs[i] != nil {
				return
			}
			for k := 0; ; k ^= 1 {
				n := int(next.Add(1)) - 1
				if n >= len(pieces) {
					return
				}
				if err := f(c, k, pieces[n].at, pieces[n].data); err != nil {
					errs[i] = fmt.Errorf("copying %s: CUDA error %w", what, err)
					return
				}
			}
		})
	}
	wg.Wait()
	q.err = errors.Join(errs[:]...)
}

// open makes what the copier needs, if it has not been made.
func (c *copier) open() (err error) {
	for k := range c.events {
		if !c.made[k] {
			if c.events[k], err = cu.MakeEvent(cu.BlockingSyncEvent | cu.DisableTiming); err != nil {
				return fmt.Errorf("making a CUDA event: %w", outOfMemory(err))
			}
			c.made[k] = true
		}
	}
	if c.mem == nil {
		c.mem, err = allocPinned(2 * copyPiece)
	}
	return err
}

// scanState returns the address of words, all zeros, for a kernel that computes running totals of so many tiles.
func (q *queue) scanState(tiles int) uint64 {
	q.grow(&q.state, 8*(tiles+1), "running totals")
	q.set(q.state.at(), 0, 8*(tiles+1), "running totals")
	return q.state.at()
}

// scan queues the running total of n values in place: each becomes the sum of those before it, modulo 2^32. The array must have room up to
// a multiple of 4. The sum of all is stored at sum.
func (q *queue) scan(values uint64, n int, sum uint64) {
	tiles := threadBlocks(n, C.SCAN_TILE)
	q.launch(C.STEP_SCAN, tiles, values, uint64(n), q.scanState(tiles), sum)
}

// scanTotal is scan with the sum in q.total.
func (q *queue) scanTotal(values uint64, n int) {
	q.grow(&q.total, 4, "running totals")
	q.scan(values, n, q.total.at())
}

// sum waits for the last scanTotal and returns the sum of its values.
func (q *queue) sum() uint32 {
	var sum [1]uint32
	q.download(bytesOf(sum[:]), q.total.at(), "a sum")
	return sum[0]
}

// sort queues the stable sort of n keys by their lowest bits, in an even number of passes by C.DIGIT_BITS bits each. Keys and the ordinals
// that they had before are in the first array of each pair then; the second ones are overwritten, and so is counts.
func (q *queue) sort(n, passes int, keys, order [2]uint64, counts *buffer) {
	tiles := threadBlocks(n, C.SORT_TILE)
	q.grow(counts, 4*C.DIGITS*tiles+64, "sort counts")
	for p := range passes {
		in, out, from := p&1, p&1^1, order[p&1]
		if p == 0 {
			from = 0 // 0, 1, 2, ...
		}
		shift := uint64(p * C.DIGIT_BITS)
		q.launch(C.STEP_SORT_COUNT, tiles, keys[in], uint64(n), shift, counts.at())
		q.scanTotal(counts.at(), C.DIGITS*tiles)
		q.launch(C.STEP_SORT_SCATTER, tiles, keys[in], from, uint64(n), shift, counts.at(), keys[out], order[out])
	}
}

// freeMemory returns how many bytes of device memory can be allocated.
func (q *queue) freeMemory() int {
	free, _, err := cu.MemInfo()
	q.check("asking for the free memory of the device", err)
	if MostMemory > 0 {
		free = min(free, max(0, MostMemory-allocated.Load()))
	}
	return int(free)
}
