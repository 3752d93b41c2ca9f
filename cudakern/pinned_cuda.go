//go:build cuda

package cudakern

// #cgo LDFLAGS: -lcuda
// #include <cuda.h>
import "C"

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// allocPinned returns n bytes of page-locked host memory, which the device copies from and
// to without the driver's help, and every context may use. gorgonia.org/cu has no such call.
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

// freePinned gives memory of allocPinned back.
func freePinned(b []byte) error {
	if cap(b) == 0 {
		return nil
	}
	return cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(b)))
}
