//go:build cuda

package blocksort

import (
	"errors"

	"orcomgo/cudakern"
)

func init() {
	openGPU = func() (gpu, error) {
		d, err := cudakern.Open(0)
		if err != nil {
			return nil, err
		}
		return cuda{d}, nil
	}
	tooLittleMemory = func(err error) bool { return errors.Is(err, cudakern.ErrMemory) }
	notATransform = func(err error) bool { return errors.Is(err, cudakern.ErrNoTransform) }
}

// cuda is an NVIDIA GPU.
type cuda struct{ dev *cudakern.Device }

func (c cuda) newTransformer() (gpuTransformer, error) {
	t, err := c.dev.NewTransformer()
	if err != nil {
		return nil, err // not a nil *cudakern.Transformer
	}
	return t, nil
}

func (c cuda) close() error { return c.dev.Close() }
