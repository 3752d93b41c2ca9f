//go:build cuda

package transform

import (
	"errors"

	"orcomgo/cudakern"
)

func init() {
	Register(Code{
		Open: func() (Backend, error) {
			d, err := cudakern.Open(0)
			if err != nil {
				return nil, err
			}
			return cuda{d}, nil
		},
		TooLittleMemory: func(err error) bool { return errors.Is(err, cudakern.ErrMemory) },
		NotATransform:   func(err error) bool { return errors.Is(err, cudakern.ErrNoTransform) },
		Most:            cudakern.MaxTransform,
	})
}

// cuda is an NVIDIA GPU.
type cuda struct{ dev *cudakern.Device }

func (c cuda) NewTransformer() (Transformer, error) {
	t, err := c.dev.NewTransformer()
	if err != nil {
		return nil, err // not a nil *cudakern.Transformer
	}
	return t, nil
}

func (c cuda) Close() error { return c.dev.Close() }
