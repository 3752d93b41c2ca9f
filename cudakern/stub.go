//go:build !cuda

package cudakern

// Device is a GPU; without the tag cuda there is none.
type Device struct{}

// Count returns ErrNotBuilt.
func Count() (int, error) { return 0, ErrNotBuilt }

// Probe returns ErrNotBuilt.
func Probe(int) (Description, error) { return Description{}, ErrNotBuilt }

// Open returns ErrNotBuilt.
func Open(int) (*Device, error) { return nil, ErrNotBuilt }
