//go:build cuda

package cudakern

import (
	"errors"
	"fmt"
	"sync/atomic"

	"gorgonia.org/cu"
)

// MostMemory, unless it is 0, is how many bytes of device memory are allocated at most, in all; tests set it.
var MostMemory int64

var allocated atomic.Int64

// AllocatedMemory returns how many bytes of device memory are allocated. Tests of packages that use devices compare it.
func AllocatedMemory() int64 { return allocated.Load() }

// A buffer is device memory.
type buffer struct {
	ptr    cu.DevicePtr
	size   int
	listed bool // in the buffers of its queue
}

func (b *buffer) at() uint64 { return uint64(b.ptr) }

// allocate gives an empty buffer n bytes; what names the content in errors.
func (b *buffer) allocate(n int, what string) error {
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
	b.ptr, b.size = 0, 0
}

func (b *buffer) free() error {
	if b.size == 0 {
		return nil
	}
	p := b.ptr
	b.forget()
	return cudaError("freeing device memory", cu.MemFree(p))
}

func cudaError(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: CUDA error %w", what, err)
}

// outOfMemory returns an error of CUDA, which wraps ErrMemory as well if it is for want of memory.
func outOfMemory(err error) error {
	if errors.Is(err, cu.OutOfMemory) {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return err
}
