//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	_ "embed" // the kernels
	"errors"
	"fmt"
	"runtime"
	"sync"

	"gorgonia.org/cu"
)

//go:embed block.ptx
var ptx string

// minMajor is the compute capability that the kernels are compiled for (warp votes and
// matches with masks need it).
const minMajor = 7

// Device is a GPU with a context of its own and the kernels loaded. Its methods may be
// called from any goroutine.
type Device struct {
	ctx       cu.CUContext
	module    cu.Module
	functions [kernels]cu.Function
	desc      Description
	resident  [kernels]int // how many thread blocks run at once, of the kernels whose thread blocks share the pieces of streams

	mu    sync.Mutex
	lanes map[*Lane]bool
	// pinned memory by its first byte
	pinned  map[*byte]*HostMemory
	stopped bool
}

// Probe describes a GPU, the first of which has index 0, and leaves no context behind. CUDA_VISIBLE_DEVICES chooses among those of the
// machine. The first call starts the driver; without a usable one it fails.
func Probe(index int) (d Description, err error) {
	if err := startDriver(); err != nil {
		return d, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return d, fmt.Errorf("CUDA: %w", err)
	}
	if n == 0 {
		return d, errors.New("no CUDA device is visible")
	}
	if index >= n {
		return d, fmt.Errorf("there are %d CUDA devices: no number %d", n, index)
	}
	dev := cu.Device(index)
	if d.Name, err = dev.Name(); err != nil {
		return d, fmt.Errorf("CUDA: %w", err)
	}
	total, err := dev.TotalMem()
	if err != nil {
		return d, fmt.Errorf("CUDA: %w", err)
	}
	d.Memory = uint64(total)
	d.Driver = cu.Version()
	for _, a := range []struct {
		at cu.DeviceAttribute
		to *int
	}{{cu.ComputeCapabilityMajor, &d.Major}, {cu.ComputeCapabilityMinor, &d.Minor}, {cu.MultiprocessorCount, &d.Multiprocessors}} {
		if *a.to, err = dev.Attribute(a.at); err != nil {
			return d, fmt.Errorf("CUDA: %w", err)
		}
	}
	if d.Major < minMajor {
		return d, fmt.Errorf("%s has compute capability %d.%d; %d.0 or more is needed", d.Name, d.Major, d.Minor, minMajor)
	}
	return d, nil
}

// loading is locked for reading while kernels are loaded.
var loading sync.RWMutex

// WaitLoaded waits until the kernels that are being loaded have been. The first time after an installation of the driver this takes a
// second or two, since it compiles them. It keeps the result for later processes, unless the process ends before.
func WaitLoaded() {
	loading.Lock()
	defer loading.Unlock()
}

// Open makes a context on a GPU, the first of which has index 0, and loads the kernels.
func Open(index int) (*Device, error) {
	desc, err := Probe(index)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d := &Device{desc: desc, lanes: map[*Lane]bool{}, pinned: map[*byte]*HostMemory{}}
	// Waiting lanes sleep instead of spinning: their cores read, hash and write meanwhile.
	if d.ctx, err = cu.Device(index).MakeContext(cu.SchedBlockingSync); err != nil {
		return nil, fmt.Errorf("making a CUDA context on %s: %w", desc.Name, outOfMemory(err))
	}
	if err := d.loadKernels(); err != nil {
		d.ctx.Destroy()
		return nil, err
	}
	free, _, err := cu.MemInfo()
	if err != nil {
		d.ctx.Destroy()
		return nil, fmt.Errorf("CUDA: %w", err)
	}
	d.desc.FreeMemory = uint64(free)
	return d, nil
}

// loadKernels loads the kernels, in the device's context.
func (d *Device) loadKernels() (err error) {
	loading.RLock()
	d.module, err = cu.LoadData(ptx)
	loading.RUnlock()
	if err != nil {
		driver := d.desc.Driver
		return fmt.Errorf("loading the kernels on %s (driver for CUDA %d.%d): %w", d.desc.Name, driver/1000, driver%1000/10, err)
	}
	for k := kernel(C.STEP_NONE + 1); k < kernels; k++ {
		if d.functions[k], err = d.module.Function(k.String()); err != nil {
			return fmt.Errorf("kernel %v: %w", k, err)
		}
	}
	for _, k := range []kernel{C.STEP_COUNT_SYMBOLS, C.STEP_MEASURE, C.STEP_WRITE_PLAIN, C.STEP_WRITE_CODES} {
		n, err := d.functions[k].MaxActiveBlocksPerMultiProcessor(threads, 0)
		if err != nil {
			return fmt.Errorf("kernel %v: %w", k, err)
		}
		d.resident[k] = max(1, n) * d.desc.Multiprocessors
	}
	return nil
}

// Description describes the device.
func (d *Device) Description() Description { return d.desc }

// enter locks the calling goroutine to a thread and makes the device's context current there.
// The function that it returns unlocks it.
func (d *Device) enter() (leave func(), err error) {
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(d.ctx); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("CUDA: %w", err)
	}
	return runtime.UnlockOSThread, nil
}

// Stop waits for the lanes that are still open, and frees all memory on the device with the context: buffer by buffer that takes as long
// again. Pinned memory is not pinned any more, but valid until Close. Nothing but
// Description and Close may be called after it. Further calls do nothing.
func (d *Device) Stop() error {
	d.mu.Lock()
	open := d.lanes
	d.lanes = map[*Lane]bool{}
	stopped := d.stopped
	d.stopped = true
	d.mu.Unlock()
	if stopped {
		return nil
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	for l := range open {
		err = errors.Join(err, l.Settle())
		for _, q := range l.queues() {
			q.forget()
		}
	}
	for _, h := range d.pinned {
		err = errors.Join(err, h.unpin())
	}
	if e := d.ctx.Destroy(); e != nil {
		err = errors.Join(err, fmt.Errorf("CUDA: %w", e))
	}
	return err
}

// Close does what Stop does, and frees the memory that was pinned.
func (d *Device) Close() error {
	err := d.Stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range d.pinned {
		if !h.pinned { // else it could not be unpinned
			err = errors.Join(err, h.Free())
		}
	}
	clear(d.pinned)
	return err
}
