//go:build cuda

package cudakern

import (
	_ "embed" // the kernels
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

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
	// pinned memory by its first byte, and what it took
	pinned   map[*byte]int
	pinMS    float64
	pinBytes uint64
}

// Probe describes the first usable GPU and leaves no context behind. CUDA_VISIBLE_DEVICES
// chooses among several. A program that imports this package with the tag cuda on a
// machine without a usable driver ends before it can call anything: gorgonia.org/cu calls
// cuInit when it is loaded.
func Probe() (Description, error) {
	n, err := cu.NumDevices()
	if err != nil {
		return Description{}, fmt.Errorf("CUDA: %w", err)
	}
	if n == 0 {
		return Description{}, errors.New("no CUDA device is visible")
	}
	dev := cu.Device(0)
	var d Description
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

// Open makes a context on the first usable GPU and loads the kernels.
func Open() (*Device, error) {
	desc, err := Probe()
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := time.Now()
	d := &Device{desc: desc, lanes: map[*Lane]bool{}, pinned: map[*byte]int{}}
	// Waiting lanes sleep instead of spinning: their cores read, hash and write meanwhile.
	if d.ctx, err = cu.Device(0).MakeContext(cu.SchedBlockingSync); err != nil {
		return nil, fmt.Errorf("making a CUDA context on %s: %w", desc.Name, outOfMemory(err))
	}
	d.desc.ContextMS = ms(begin)
	begin = time.Now()
	if d.module, err = cu.LoadData(ptx); err != nil {
		d.ctx.Destroy()
		return nil, fmt.Errorf("loading the kernels on %s (driver for CUDA %d.%d): %w", desc.Name, desc.Driver/1000, desc.Driver%1000/10, err)
	}
	for k := kernelLines; k < kernels; k++ {
		if d.functions[k], err = d.module.Function(k.String()); err != nil {
			d.ctx.Destroy()
			return nil, fmt.Errorf("kernel %v: %w", k, err)
		}
	}
	for _, k := range []kernel{kernelCountSymbols, kernelMeasure, kernelWritePlain, kernelWriteCodes} {
		n, err := d.functions[k].MaxActiveBlocksPerMultiProcessor(threads, 0)
		if err != nil {
			d.ctx.Destroy()
			return nil, fmt.Errorf("kernel %v: %w", k, err)
		}
		d.resident[k] = max(1, n) * desc.Multiprocessors
	}
	d.desc.ModuleMS = ms(begin)
	free, _, err := cu.MemInfo()
	if err != nil {
		d.ctx.Destroy()
		return nil, fmt.Errorf("CUDA: %w", err)
	}
	d.desc.FreeMemory = uint64(free)
	return d, nil
}

func ms(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }

// Description describes the device, and has the times that Open took.
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

// Close frees the lanes that are still open, all pinned memory and the context.
func (d *Device) Close() error {
	d.mu.Lock()
	var open []*Lane
	for l := range d.lanes {
		open = append(open, l)
	}
	d.mu.Unlock()
	var first error
	for _, l := range open {
		if err := l.Close(); err != nil && first == nil {
			first = err
		}
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	for p, n := range d.pinned {
		if err := freePinned(unsafe.Slice(p, n)); err != nil && first == nil {
			first = cudaError("freeing pinned memory", err)
		}
	}
	clear(d.pinned)
	if err := d.ctx.Destroy(); err != nil && first == nil {
		first = fmt.Errorf("CUDA: %w", err)
	}
	return first
}
