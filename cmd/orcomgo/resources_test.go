package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestCollector: a small heap may grow by more percents than a large one, unless there is little memory.
func TestCollector(t *testing.T) {
	defer debug.SetMemoryLimit(math.MaxInt64)
	for _, c := range []struct {
		memory, used uint64
		percent      int
	}{
		{4 << 30, 0, 800}, {4 << 30, 16 << 20, 200}, {4 << 30, 100 << 20, 32}, {4 << 30, 1 << 30, garbagePercent},
		{64 << 20, 0, 100}, {64 << 20, 16 << 20, garbagePercent},
	} {
		garbage.limit(c.memory)
		if p := garbage.percent(c.used); p != c.percent {
			t.Errorf("with %d of %d bytes in use the heap may grow by %d %%, not %d", c.used, c.memory, p, c.percent)
		}
	}
	garbage.limit(4 << 30)
	// adjusted waits until the percentage is that of the memory in use after a collection.
	adjusted := func() {
		t.Helper()
		var is, want int
		for range 1000 {
			runtime.GC()
			time.Sleep(time.Millisecond)
			is, want = int(readMetric("/gc/gogc:percent")), garbage.percent(readMetric("/gc/heap/live:bytes"))
			if is == want {
				return
			}
		}
		t.Errorf("the heap may grow by %d %%, not by %d", is, want)
	}
	large := make([]byte, 64<<20)
	adjusted()
	runtime.KeepAlive(large)
	adjusted()
}
