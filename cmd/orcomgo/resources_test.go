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
	// after collects garbage until there is a percentage from least to most.
	after := func(least, most uint64) {
		t.Helper()
		var p uint64
		for range 1000 {
			runtime.GC()
			if p = readMetric("/gc/gogc:percent"); p >= least && p <= most {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("the heap may grow by %d %%, not by %d to %d", p, least, most)
	}
	large := make([]byte, 64<<20)
	after(garbagePercent, 50)
	runtime.KeepAlive(large)
	after(51, 800)
}
