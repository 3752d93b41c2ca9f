//go:build cuda

package doubles

import "orcomgo/cudakern"

func init() {
	openBackend = func() (backend, error) {
		d, err := cudakern.Open(0)
		if err != nil {
			return nil, err
		}
		return cudaBackend{d}, nil
	}
}

// cudaBackend is an NVIDIA GPU.
type cudaBackend struct{ dev *cudakern.Device }

func (b cudaBackend) newCoder() (coder, error) {
	c, err := b.dev.NewFloatCoder()
	return cudaCoder{c}, err
}

func (b cudaBackend) close() error { return b.dev.Close() }

type cudaCoder struct{ c *cudakern.FloatCoder }

func (c cudaCoder) close() error { return c.c.Close() }

func (c cudaCoder) residuals(values []byte, m mode, width int, blocks []block) ([]leftOver, error) {
	form := cudakern.FloatIntegers
	if m == modeBits {
		if form = cudakern.FloatBits64; width == 4 {
			form = cudakern.FloatBits32
		}
	}
	list := make([]cudakern.FloatBlock, len(blocks))
	for i, b := range blocks {
		list[i] = cudakern.FloatBlock{First: b.first, Count: b.count}
		for k, p := range b.pair {
			list[i].Kinds[k], list[i].Lags[k] = int(p.kind), p.lag
		}
	}
	done, err := c.c.Residuals(values, form, list)
	if err != nil {
		return nil, err
	}
	all := make([]leftOver, len(done))
	for i, r := range done {
		all[i] = leftOver{r.Classes, r.Bits}
	}
	return all, nil
}
