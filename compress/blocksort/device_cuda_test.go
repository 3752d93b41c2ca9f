//go:build cuda

package blocksort

import (
	"bytes"
	"math/rand"
	"testing"

	"orcomgo/compress/transform"
)

// TestGPU: with the GPU of this machine, a stream is the same and is read back.
func TestGPU(t *testing.T) {
	a, err := transform.Open(transform.GPU, nil)
	if err != nil {
		t.Skip(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	text := report(rand.New(rand.NewSource(13)), 20<<20)
	device := func(d Device) Option { return WithDevice(d, func(line string) { t.Error(line) }) }
	for _, size := range []int{1 << 20, 6 << 20} {
		want := encode(t, text, WithBlockSize(size))
		if got := encode(t, text, WithBlockSize(size), device(DeviceGPU)); !bytes.Equal(got, want) {
			t.Errorf("blocks of %d: another stream", size)
		}
		if got, err := decode(want, device(DeviceAuto)); err != nil || !bytes.Equal(got, text) {
			t.Errorf("blocks of %d: %v", size, err)
		}
	}
}
