package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"orcomgo/compress"
)

// readMetric returns a number that the runtime knows.
func readMetric(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestCollector: the heap grows by leastGarbage and a share of what is in use before garbage is collected, by less in little memory.
func TestCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	defer debug.SetMemoryLimit(math.MaxInt64)
	defer limitMemory(4 << 30)
	for _, c := range []struct{ memory, least uint64 }{{4 << 30, leastGarbage}, {256 << 20, leastGarbage}, {64 << 20, 4 << 20}} {
		limitMemory(c.memory)
		used := make([]byte, 64<<20)
		runtime.GC()
		live, goal := readMetric("/gc/heap/live:bytes"), readMetric("/gc/heap/goal:bytes")
		runtime.KeepAlive(used)
		want := c.least + (live-uint64(len(ballast)))*garbagePercent/100
		// The limit comes first, also where tests that ran before left much in use. It is of all that the runtime has, not only the heap.
		if c.memory < 256<<20 || c.memory < 1<<30 && live+want > c.memory+uint64(len(ballast))-2*uncounted {
			if goal-live > want {
				t.Errorf("within %d bytes the heap grows by %d, by more than %d", c.memory, goal-live, want)
			}
			continue
		}
		if got := goal - live; got < want*9/10 || got > want*11/10+1<<20 {
			t.Errorf("within %d bytes the heap grows by %d, want %d", c.memory, got, want)
		}
	}
}

// TestBallast: the ballast takes no memory.
func TestBallast(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	dir := t.TempDir()
	put(t, dir, map[string][]byte{"x.fastq": []byte("@r\nACGT\n+\nIIII\n")})
	peak, _ := peaksOf(t, "archive", "-q", "-t", "2", dir+"/x.fastq", dir+"/out")
	t.Logf("a peak of %d bytes", peak)
	if least := len(ballast); peak > 20<<20+least {
		t.Errorf("the archive of one read takes %d bytes of memory, and the ballast has %d", peak, least)
	}
}

// TestBallastIsMadeAtOnce: garbage is not collected for the ballast, which is more than a small heap may grow by.
func TestBallastIsMadeAtOnce(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	defer debug.SetMemoryLimit(math.MaxInt64)
	defer limitMemory(4 << 30)
	limitMemory(64 << 20)
	before := readMetric("/gc/cycles/total:gc-cycles")
	limitMemory(4 << 30)
	if n := readMetric("/gc/cycles/total:gc-cycles") - before; n > 1 {
		t.Errorf("garbage is collected %d times for a ballast of %d bytes", n, len(ballast))
	}
}

// TestDefaultMemoryReachesPack: without --memory, pack and archive may take as much memory as the machine lets them, and know it.
func TestDefaultMemoryReachesPack(t *testing.T) {
	var got []compress.PackOptions
	testTuning.packing = func(o compress.PackOptions) { got = append(got, o) }
	defer func() { testTuning = tuning{} }()
	packed, archived, sheet := filepath.Join(t.TempDir(), "x"), filepath.Join(t.TempDir(), "x"), filepath.Join(t.TempDir(), "s.csv")
	if err := os.WriteFile(sheet, []byte("sample,fastq_1\nliver,"+input+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "bin", "-q", input, packed)
	mustRun(t, "pack", "-q", "-t", "3", packed)
	mustRun(t, "archive", "-q", "-t", "3", input, archived)
	mustRun(t, "archive", "-q", "-t", "3", "--samples", sheet, archived)
	if len(got) != 3 {
		t.Fatalf("packed %d times", len(got))
	}
	for i, o := range got {
		if want := (&resources{}).limit(); o.Memory != uint64(want) || o.Threads != 3 {
			t.Errorf("command %d packs with %d threads and %d bytes of memory, not with 3 and %d", i, o.Threads, o.Memory, want)
		}
	}
}
