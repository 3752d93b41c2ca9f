package bins

import (
	"errors"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
)

// TestChunkErrors: a chunk that could not be read is read again when it is wanted again, by all who wait for it.
func TestChunkErrors(t *testing.T) {
	var c chunkCache
	failed := errors.New("failed")
	for i, want := range []error{failed, failed, nil} {
		data, err := c.chunk(chunkKey{1, 2, 3}, func() ([]byte, error) { return make([]byte, 10), want })
		if err != want || (len(data) > 0) != (want == nil) {
			t.Errorf("call %d: %v, %d bytes", i, err, len(data))
		}
	}
	if n := count(&c); n != 1 {
		t.Errorf("%d chunks", n)
	}
}

// count returns how many chunks are in memory.
func count(c *chunkCache) (n int) {
	c.Shrink(func(int, []byte) bool {
		n++
		return false
	})
	return n
}

// TestChunksAreDecodedOnce: chunks that were used lately are not decoded again, also where several goroutines want one; others leave.
func TestChunksAreDecodedOnce(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	for _, limit := range []int64{0, 3 << 20 * cachedShare, math.MaxInt64} {
		var c chunkCache
		var decoded atomic.Int64
		get := func(chunk int) {
			wrong := errors.New("wrong")
			data, err := c.chunk(chunkKey{1, 2, chunk}, func() ([]byte, error) {
				decoded.Add(1)
				data := make([]byte, 10)
				for i := range data {
					data[i] = byte(chunk + i)
				}
				if chunk < 0 {
					return nil, wrong
				}
				return data, nil
			})
			for i, b := range data {
				if b != byte(chunk+i) || len(data) != 10 {
					t.Errorf("chunk %d has other bytes", chunk)
				}
			}
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
		if n := count(&c); n > most {
			t.Errorf("limit %d: %d chunks are in memory, want %d", limit, n, most)
		}
		var all sync.WaitGroup
		for k := range 400 {
			all.Go(func() { get(k / 100 % 7) })
		}
		all.Wait()
		debug.SetMemoryLimit(math.MaxInt64)
		if n := count(&c); n > most {
			t.Errorf("limit %d: %d chunks are in memory, want %d", limit, n, most)
		}
	}
}
