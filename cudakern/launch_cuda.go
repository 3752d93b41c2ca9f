//go:build cuda

package cudakern

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"gorgonia.org/cu"
)

// recordGroups is how many thread blocks share the records of the records kernel, each of which
// reports once: enough to fill any GPU several times.
const recordGroups = 4096

// launch queues a kernel on the lane's stream. Every parameter of the kernels takes 8 bytes; the
// last one, the address of the step word, is added here.
func (l *Lane) launch(k kernel, blocks int, args ...uint64) error {
	return l.launchOn(l.stream, k, blocks, args...)
}

// launchOn is launch on another stream.
func (l *Lane) launchOn(stream cu.Stream, k kernel, blocks int, args ...uint64) error {
	if l.Profile != nil {
		return l.profile(k, func() error { return l.dev.launch(stream, k, blocks, l.stepAddress(), args) })
	}
	return l.dev.launch(stream, k, blocks, l.stepAddress(), args)
}

// launch queues a kernel on a stream. The address of the step word is added to the parameters.
func (d *Device) launch(stream cu.Stream, k kernel, blocks int, step uint64, args []uint64) error {
	if blocks == 0 {
		return nil
	}
	var values [16]uint64
	var at [16]unsafe.Pointer
	n := copy(values[:], args)
	values[n] = step
	for i := range n + 1 {
		at[i] = unsafe.Pointer(&values[i])
	}
	if err := d.functions[k].Launch(blocks, 1, 1, threads, 1, 1, 0, stream, at[:n+1]); err != nil {
		return fmt.Errorf("kernel %v: CUDA error %w at its launch", k, err)
	}
	return nil
}

// profile runs a kernel alone and adds its time to Profile.
func (l *Lane) profile(k kernel, launch func() error) error {
	if err := l.events[evProfile].Record(l.stream); err != nil {
		return err
	}
	if err := launch(); err != nil {
		return err
	}
	if err := l.events[evProfile+1].Record(l.stream); err != nil {
		return err
	}
	if err := l.stream.Synchronize(); err != nil {
		return l.fault(err)
	}
	t, err := l.events[evProfile].Elapsed(l.events[evProfile+1])
	if err != nil {
		return err
	}
	l.Profile[k.String()] += t
	return nil
}

// fault adds to an error of the stream the kernel that had started last.
func (l *Lane) fault(err error) error {
	if k := kernel(l.step()); k != kernelNone {
		return fmt.Errorf("kernel %v: CUDA error %w", k, err)
	}
	return fmt.Errorf("copying the block to the device: CUDA error %w", err)
}

// threadBlocks returns how many thread blocks are needed for n items, if each takes so many.
func threadBlocks(n, each int) int { return (n + each - 1) / each }

// scan queues the running total of n values in place; the sum goes to an info slot.
func (l *Lane) scan(values buffer, n, slot int) error {
	tiles := threadBlocks(n, scanTile)
	state, err := l.tileState(tiles)
	if err != nil {
		return err
	}
	return l.launch(kernelScan, tiles, values.at(), uint64(n), state, l.info.at()+4*uint64(slot))
}

// sort queues the stable sort by signature of the n keys in a, by two passes. The sorted keys are
// in a again, the ordinals in that order in order; b and scratch are overwritten.
func (l *Lane) sort(n int, a, b, order, scratch buffer) error {
	tiles := threadBlocks(n, sortTile)
	if err := l.counts.grow(4*digits*tiles+16, "sort counts"); err != nil {
		return err
	}
	pass := func(shift uint64, key, from, keyOut, orderOut uint64) error {
		if err := l.launch(kernelSortCount, tiles, key, uint64(n), shift, l.counts.at()); err != nil {
			return err
		}
		if err := l.scan(l.counts, digits*tiles, infoScratch); err != nil {
			return err
		}
		return l.launch(kernelSortScatter, tiles, key, from, uint64(n), shift, l.counts.at(), keyOut, orderOut)
	}
	if err := pass(0, a.at(), 0, b.at(), scratch.at()); err != nil {
		return err
	}
	return pass(digitBits, b.at(), scratch.at(), a.at(), order.at())
}

// MostMemory, unless it is 0, is how many bytes of device memory are allocated at most, in all; tests set it.
var MostMemory int64

var allocated atomic.Int64

// AllocatedMemory returns how many bytes of device memory are allocated. Tests of packages that use devices compare it.
func AllocatedMemory() int64 { return allocated.Load() }

// A buffer is device memory that grows. Growing loses the content.
type buffer struct {
	ptr  cu.DevicePtr
	size int
}

func (b *buffer) at() uint64 { return uint64(b.ptr) }

// grow makes room for n bytes; what names the content in errors.
func (b *buffer) grow(n int, what string) error {
	if n <= b.size {
		return nil
	}
	if b.size > 0 {
		n += n / 4
	}
	if err := b.free(); err != nil {
		return err
	}
	if MostMemory > 0 && allocated.Load()+int64(n) > MostMemory {
		return fmt.Errorf("%d MB of device memory for %s, of %d: %w", n>>20, what, MostMemory>>20, ErrMemory)
	}
	ptr, err := cu.MemAlloc(int64(n))
	if err != nil {
		return fmt.Errorf("%d MB of device memory for %s: %w", n>>20, what, outOfMemory(err))
	}
	b.ptr, b.size = ptr, n
	allocated.Add(int64(n))
	return nil
}

// forget makes the buffer empty. Its memory is freed with the context.
func (b *buffer) forget() {
	allocated.Add(-int64(b.size))
	*b = buffer{}
}

func (b *buffer) free() error {
	if b.size == 0 {
		return nil
	}
	p := b.ptr
	allocated.Add(-int64(b.size))
	*b = buffer{}
	if err := cu.MemFree(p); err != nil {
		return fmt.Errorf("freeing device memory: CUDA error %w", err)
	}
	return nil
}
