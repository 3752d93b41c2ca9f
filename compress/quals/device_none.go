//go:build !cuda

package quals

// openGPU opens a coder on the device. It is nil, since this program has none.
var openGPU func() (gpu, error)
