//go:build cuda

package cudakern

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"gorgonia.org/cu"
)

// queue is a CUDA stream with what its work needs: the step word, memory for running totals, and pinned memory through which data are
// copied. It is used by one goroutine at a time, which has entered the device.
type queue struct {
	dev     *Device
	stream  cu.Stream
	pinned  []byte // the step word
	state   buffer // of running totals
	total   buffer
	copiers [copiers]copier

	// Profile, unless it is nil, gets the seconds that each kernel takes. They run one at a time then.
	Profile map[string]float64
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

// stepBytes is the size of the pinned memory of the step word.
const stepBytes = 64

// overrun is how many bytes after packed bases the kernels may read.
const overrun = 16

// open makes the stream. The error wraps ErrMemory if there is too little memory.
func (q *queue) open(d *Device) (err error) {
	q.dev = d
	if q.stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return fmt.Errorf("making a CUDA stream: %w", outOfMemory(err))
	}
	if q.pinned, err = allocPinned(stepBytes); err != nil {
		q.stream.Destroy()
		return err
	}
	return nil
}

// close waits for the stream, and frees what the queue has and some buffers.
func (q *queue) close(buffers ...*buffer) error {
	err := cudaError("ending a stream", q.stream.Synchronize())
	for _, b := range append(buffers, &q.state, &q.total) {
		err = errors.Join(err, b.free())
	}
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

func (q *queue) stepAddress() uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(q.pinned))))
}

// launch queues a kernel.
func (q *queue) launch(k kernel, blocks int, args ...uint64) error {
	if q.Profile == nil {
		return q.dev.launch(q.stream, k, blocks, q.stepAddress(), args)
	}
	if err := q.wait(); err != nil {
		return err
	}
	begin := time.Now()
	if err := q.dev.launch(q.stream, k, blocks, q.stepAddress(), args); err != nil {
		return err
	}
	err := q.wait()
	q.Profile[k.String()] += time.Since(begin).Seconds()
	return err
}

// wait waits until all that is queued is done.
func (q *queue) wait() error {
	if err := q.stream.Synchronize(); err != nil {
		return q.fault(err)
	}
	return nil
}

// fault adds to an error of the stream what was running.
func (q *queue) fault(err error) error {
	if k := kernel(*(*uint32)(unsafe.Pointer(unsafe.SliceData(q.pinned)))); k != kernelNone {
		return fmt.Errorf("kernel %v: CUDA error %w", k, err)
	}
	return fmt.Errorf("copying reads to the device: CUDA error %w", err)
}

// room makes room for exactly n bytes in a buffer, unless it has as many. Its content is lost then.
func (q *queue) room(b *buffer, n int, what string) error {
	if b.size >= n {
		return nil
	}
	if err := b.free(); err != nil {
		return err
	}
	return b.grow(n, what)
}

// bytesOf returns the memory of a slice.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// replace copies data to a buffer, which gets at least its size and so many more bytes.
func replace[T any](q *queue, b *buffer, data []T, more int, what string) error {
	bytes := bytesOf(data)
	if err := q.room(b, len(bytes)+more, what); err != nil {
		return err
	}
	return q.upload(b.at(), bytes, what)
}

// upload copies data to the device. It has been read when the call returns.
func (q *queue) upload(to uint64, data []byte, what string) error {
	if len(data) == 0 {
		return nil
	}
	if len(data) < smallCopy {
		return q.send(to, data, what)
	}
	return q.inPieces(len(data), what, func(c *copier, k, from, end int) error {
		if c.used[k] {
			if err := c.events[k].Synchronize(); err != nil {
				return err
			}
		}
		p := c.mem[k*copyPiece:][:copy(c.mem[k*copyPiece:][:copyPiece], data[from:end])]
		if err := cu.MemcpyHtoDAsync(
			cu.DevicePtr(to+uint64(from)),
			unsafe.Pointer(unsafe.SliceData(p)),
			int64(len(p)),
			q.stream,
		); err != nil {
			return err
		}
		c.used[k] = true
		return c.events[k].Record(q.stream)
	})
}

// download copies data from the device, after all that is queued, and waits for it.
func (q *queue) download(data []byte, from uint64, what string) error {
	if len(data) == 0 {
		return nil
	}
	if len(data) < smallCopy {
		if err := q.fetch(data, from, what); err != nil {
			return err
		}
		return q.wait()
	}
	if err := q.wait(); err != nil { // so that what fails there is not taken for a failure of copying
		return err
	}
	return q.inPieces(len(data), what, func(c *copier, k, at, end int) error {
		if c.used[k] {
			if err := c.events[k].Synchronize(); err != nil {
				return err
			}
			c.used[k] = false
		}
		p := c.mem[k*copyPiece:][:end-at]
		if err := cu.MemcpyDtoHAsync(
			unsafe.Pointer(unsafe.SliceData(p)),
			cu.DevicePtr(from+uint64(at)),
			int64(len(p)),
			q.stream,
		); err != nil {
			return err
		}
		if err := c.events[k].Record(q.stream); err != nil {
			return err
		}
		if err := c.events[k].Synchronize(); err != nil {
			return err
		}
		copy(data[at:end], p)
		return nil
	})
}

// send queues a copy to the device. Data that are not pinned have been read when the call returns.
func (q *queue) send(to uint64, data []byte, what string) error {
	err := cu.MemcpyHtoDAsync(cu.DevicePtr(to), unsafe.Pointer(unsafe.SliceData(data)), int64(len(data)), q.stream)
	return cudaError("copying "+what+" to the device", err)
}

// fetch queues a copy from the device.
func (q *queue) fetch(data []byte, from uint64, what string) error {
	err := cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(data)), cu.DevicePtr(from), int64(len(data)), q.stream)
	return cudaError("copying "+what+" from the device", err)
}

// inPieces calls f for pieces of n bytes from several goroutines: with a copier, which of its pieces to use, and a range of the bytes.
func (q *queue) inPieces(n int, what string, f func(c *copier, k, from, end int) error) error {
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
				end := int(next.Add(copyPiece))
				from := end - copyPiece
				if from >= n {
					return
				}
				if err := f(c, k, from, min(end, n)); err != nil {
					errs[i] = fmt.Errorf("copying %s: CUDA error %w", what, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs[:]...)
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

// clear sets bytes of the device to 0.
func (q *queue) clear(at uint64, bytes int, what string) error {
	if bytes == 0 {
		return nil
	}
	return cudaError("clearing "+what, cu.MemsetD8Async(cu.DevicePtr(at), 0, int64(bytes), q.stream))
}

// scan queues the running total of n values in place: each becomes the sum of those before it, modulo 2^32. The array must have room up to
// a multiple of 4. The sum of all is at the address of total.
func (q *queue) scan(values uint64, n int) error {
	tiles := threadBlocks(n, scanTile)
	if err := q.state.grow(8*(tiles+1), "running totals"); err != nil {
		return err
	}
	if err := q.total.grow(4, "running totals"); err != nil {
		return err
	}
	if err := q.clear(q.state.at(), 8*(tiles+1), "running totals"); err != nil {
		return err
	}
	return q.launch(kernelScan, tiles, values, uint64(n), q.state.at(), q.total.at())
}

// sum waits for the last scan and returns the sum of its values.
func (q *queue) sum() (uint32, error) {
	var sum [1]uint32
	err := q.download(bytesOf(sum[:]), q.total.at(), "a sum")
	return sum[0], err
}

// freeMemory returns how many bytes of device memory can be allocated.
func freeMemory() (int, error) {
	free, _, err := cu.MemInfo()
	if err != nil {
		return 0, cudaError("asking for the free memory of the device", err)
	}
	if MostMemory > 0 {
		free = min(free, max(0, MostMemory-allocated.Load()))
	}
	return int(free), nil
}
