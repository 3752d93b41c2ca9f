//go:build !cuda

package overlap

// openDevice opens the device. It is nil, since this program has none.
var openDevice func() (device, error)
