//go:build cuda

package cudakern

// #cgo LDFLAGS: -lcuda
// #include <cuda.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
	"gorgonia.org/cu"
)

// allocPinned returns n bytes of page-locked host memory, from and to which the device copies by
// itself, and which every context may use. gorgonia.org/cu has no such call. For much memory Pin
// is several times as fast.
func allocPinned(n int) ([]byte, error) {
	var p unsafe.Pointer
	r := C.cuMemHostAlloc(&p, C.size_t(n), C.CU_MEMHOSTALLOC_PORTABLE|C.CU_MEMHOSTALLOC_DEVICEMAP)
	if err := pinError(r, n); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), n), nil
}

func pinError(r C.CUresult, n int) error {
	switch r {
	case C.CUDA_SUCCESS:
		return nil
	case C.CUDA_ERROR_OUT_OF_MEMORY:
		return fmt.Errorf("%d MB of pinned host memory: %w", n>>20, ErrMemory)
	}
	return fmt.Errorf("CUDA error %d when pinning %d MB of host memory", int(r), n>>20)
}

// freePinned frees memory of allocPinned.
func freePinned(b []byte) error {
	if cap(b) == 0 {
		return nil
	}
	return cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(b)))
}

// HostMemory is memory of the host in large pages, which is pinned faster than other memory: most
// of the time goes to making pages.
type HostMemory struct {
	mem    []byte
	mapped []byte // contains mem
	pinned bool
}

const largePage = 2 << 20

// NewHostMemory returns n bytes of memory, all pages of which have been made. It needs no device,
// so it may run while one is opened. The error wraps ErrMemory.
func NewHostMemory(n int) (*HostMemory, error) {
	n = (max(n, 1) + largePage - 1) / largePage * largePage
	mapped, err := unix.Mmap(-1, 0, n+largePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("%d MB of host memory: %w (%w)", n>>20, ErrMemory, err)
	}
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(mapped))) & (largePage - 1))
	h := &HostMemory{mem: mapped[skip : skip+n : skip+n], mapped: mapped}
	unix.Madvise(h.mem, unix.MADV_HUGEPAGE) // without it, it only takes longer
	for i := 0; i < n; i += os.Getpagesize() {
		h.mem[i] = 0
	}
	return h, nil
}

// Free frees memory that is not pinned.
func (h *HostMemory) Free() error { return unix.Munmap(h.mapped) }

// PinMemory pins memory of NewHostMemory and returns it. It is valid until Unpin or Close. The
// error wraps ErrMemory if so much can't be pinned; then the memory is free.
func (d *Device) PinMemory(h *HostMemory) ([]byte, error) {
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	r := C.cuMemHostRegister(unsafe.Pointer(unsafe.SliceData(h.mem)), C.size_t(len(h.mem)),
		C.CU_MEMHOSTREGISTER_PORTABLE|C.CU_MEMHOSTREGISTER_DEVICEMAP)
	if err := pinError(r, len(h.mem)); err != nil {
		h.Free()
		return nil, err
	}
	h.pinned = true
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pinned[unsafe.SliceData(h.mem)] = h
	return h.mem, nil
}

// Pin returns n or more bytes of pinned host memory, which are valid until Unpin or Close. The error
// wraps ErrMemory if there are not so many.
func (d *Device) Pin(n int) ([]byte, error) {
	h, err := NewHostMemory(n)
	if err != nil {
		return nil, err
	}
	return d.PinMemory(h)
}

// Unpin frees memory that Pin or PinMemory of this device returned; b must begin where that begins.
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
	h := d.pinned[unsafe.SliceData(b)]
	delete(d.pinned, unsafe.SliceData(b))
	d.mu.Unlock()
	if h == nil {
		return errors.New("the memory to be unpinned was not pinned by this device")
	}
	if err := h.unpin(); err != nil {
		return err
	}
	return h.Free()
}

// unpin makes pinned memory usual memory.
func (h *HostMemory) unpin() error {
	if err := pinError(C.cuMemHostUnregister(unsafe.Pointer(unsafe.SliceData(h.mem))), len(h.mem)); err != nil {
		return fmt.Errorf("freeing: %w", err)
	}
	h.pinned = false
	return nil
}

// Output is pinned host memory for the columns of a block. The zero value is ready for use. Close
// of the device frees it.
type Output struct{ mem []byte }

// room makes room for n bytes. The device pins them if there are fewer.
func (o *Output) room(d *Device, n int) error {
	if n <= len(o.mem) {
		return nil
	}
	mem := o.mem
	o.mem = nil
	err := d.Unpin(mem)
	if err == nil {
		o.mem, err = d.Pin(n + n/32 + 4096) // the next block may need a little more
	}
	return err
}
