//go:build cuda

package cudakern

// #cgo LDFLAGS: -lcuda
// #include <cuda.h>
import "C"

import (
	"fmt"
	"time"
	"unsafe"

	"gorgonia.org/cu"
)

// allocPinned returns n bytes of page-locked host memory, from and to which the device copies by
// itself, and which every context may use. gorgonia.org/cu has no such call.
func allocPinned(n int) ([]byte, error) {
	var p unsafe.Pointer
	switch r := C.cuMemHostAlloc(&p, C.size_t(n), C.CU_MEMHOSTALLOC_PORTABLE|C.CU_MEMHOSTALLOC_DEVICEMAP); r {
	case C.CUDA_SUCCESS:
		return unsafe.Slice((*byte)(p), n), nil
	case C.CUDA_ERROR_OUT_OF_MEMORY:
		return nil, fmt.Errorf("%d MB of pinned host memory: %w", n>>20, ErrMemory)
	default:
		return nil, fmt.Errorf("CUDA error %d when pinning %d MB of host memory", int(r), n>>20)
	}
}

// freePinned frees memory of allocPinned.
func freePinned(b []byte) error {
	if cap(b) == 0 {
		return nil
	}
	return cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(b)))
}

// Pin returns n bytes of pinned host memory, which are valid until Unpin or Close. The error wraps
// ErrMemory if there are not so many.
func (d *Device) Pin(n int) ([]byte, error) {
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	begin := time.Now()
	b, err := allocPinned(max(n, 1))
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pinned[unsafe.SliceData(b)] = len(b)
	d.pinMS += ms(begin)
	d.pinBytes += uint64(len(b))
	return b, nil
}

// Unpin frees memory of Pin; b must begin where that begins.
func (d *Device) Unpin(b []byte) error {
	if cap(b) == 0 {
		return nil
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	d.mu.Lock()
	delete(d.pinned, unsafe.SliceData(b))
	d.mu.Unlock()
	return cudaError("freeing pinned memory", freePinned(b))
}

// PinTime returns how many milliseconds pinning host memory has taken so far, and for how many
// bytes.
func (d *Device) PinTime() (ms float64, bytes uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pinMS, d.pinBytes
}

// Output is pinned host memory for the columns of a block. The zero value is ready for use. Close
// of the device frees it.
type Output struct{ mem []byte }

// room makes room for n bytes.
func (o *Output) room(d *Device, n int) error {
	if n <= len(o.mem) {
		return nil
	}
	if err := d.Unpin(o.mem); err != nil {
		return err
	}
	o.mem = nil
	b, err := d.Pin(n + n/8 + 4096) // the next block may need a little more
	if err != nil {
		return err
	}
	o.mem = b
	return nil
}
