package bins

import (
	"errors"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
)

// TestChunksAreDecodedOnce: chunks that were used lately are not decoded again, also where several goroutines want one; others leave.
func TestChunksAreDecodedOnce(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	for _, limit := range []int64{0, 3 << 20 * cachedShare, math.MaxInt64} {
		var c chunkCache
		var decoded atomic.Int64
		get := func(chunk int) {
			wrong := errors.New("wrong")
			err := c.with(chunkKey{1, 2, chunk}, 10, func(dst []byte) error {
				decoded.Add(1)
				for i := range dst {
					dst[i] = byte(chunk + i)
				}
				if chunk < 0 {
					return wrong
				}
				return nil
			}, func(data []byte) {
				for i, b := range data {
					if b != byte(chunk+i) || len(data) != 10 {
						t.Errorf("chunk %d has other bytes", chunk)
					}
				}
			})
			if (err != nil) != (chunk < 0) {
				t.Errorf("chunk %d: %v", chunk, err)
			}
		}
		debug.SetMemoryLimit(limit)
		most := cachedNow()
		for range 3 {
			for k := range most {
				get(k)
			}
		}
		if got := int(decoded.Load()); got != most {
			t.Errorf("limit %d: %d chunks are decoded %d times", limit, most, got)
		}
		get(most)
		get(-1)
		if len(c.chunks) > most {
			t.Errorf("limit %d: %d chunks are in memory, want %d", limit, len(c.chunks), most)
		}
		var all sync.WaitGroup
		for k := range 400 {
			all.Go(func() { get(k / 100 % 7) })
		}
		all.Wait()
		debug.SetMemoryLimit(math.MaxInt64)
		if len(c.chunks) > most {
			t.Errorf("limit %d: %d chunks are in memory, want %d", limit, len(c.chunks), most)
		}
	}
}
