//go:build cuda

package cudakern

import (
	"math"
	"testing"
)

// BenchmarkFloatResiduals measures a call, copies included, on 256 MB of float64 in blocks of one chunk of 4 MB each.
// That the results are right is tested by package compress/doubles.
func BenchmarkFloatResiduals(b *testing.B) {
	d, err := Open(0)
	if err != nil {
		b.Skip(err)
	}
	defer d.Close()
	c, err := d.NewFloatCoder()
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	const n, chunk = 1 << 25, 1 << 19
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Sin(float64(i)/300) + float64(i*7919%1000)/1e6
	}
	var blocks []FloatBlock
	for first := 0; first < n; first += MaxFloatBlock {
		blocks = append(blocks, FloatBlock{Chunk: first / chunk * chunk, First: first, Count: MaxFloatBlock,
			Kinds: [2]int{1, 4}, Lags: [2]int{1, 400}})
	}
	b.SetBytes(8 * n)
	for b.Loop() {
		if _, err := c.Residuals(bytesOf(values), FloatBits64, blocks); err != nil {
			b.Fatal(err)
		}
	}
}
