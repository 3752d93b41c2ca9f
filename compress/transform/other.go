//go:build !cuda

package transform

// Open returns ErrNoGPU.
func Open() (GPU, error) { return nil, ErrNoGPU }
