//go:build cuda

package transform

import (
	"errors"

	"orcomgo/cudakern"
)

// cuda is an NVIDIA GPU.
type cuda struct {
	*cudakern.Transformer
	device *cudakern.Device
}

// Close frees what the GPU holds.
func (c cuda) Close() error { return errors.Join(c.Transformer.Close(), c.device.Close()) }

// Open opens the first GPU.
func Open() (GPU, error) {
	d, err := cudakern.Open(0)
	if err != nil {
		return nil, err
	}
	t, err := d.NewTransformer()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return cuda{t, d}, nil
}
