//go:build !cuda

package cudakern

// Device is a GPU; without the tag cuda there is none.
type Device struct{}

// Probe returns ErrNotBuilt.
func Probe() (Description, error) { return Description{}, ErrNotBuilt }

// Open returns ErrNotBuilt.
func Open() (*Device, error) { return nil, ErrNotBuilt }
