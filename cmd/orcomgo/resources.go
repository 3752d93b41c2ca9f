package main

import (
	"cmp"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"orcomgo/compress"
	"orcomgo/internal/largepages"
)

// resources are the flags for threads, memory and messages.
type resources struct {
	threads int
	memory  size
	quiet   bool
	json    bool
	began   time.Time
}

// minMemory is about what the program needs for any input: two models of bases, and a slice of the least size.
const minMemory = 96e6

// maxThreads is the largest number of threads, and maxStreams that of blocks in flight. More of them would take longer and fill the memory,
// threads with their stacks.
const maxThreads, maxStreams = 4096, 64

// uncounted is about how much memory the limit of the collector leaves out: the pages of the program's file.
const uncounted = 22 << 20

// add defines --threads, --memory, --quiet and --json.
func (r *resources) add(f *pflag.FlagSet) {
	f.IntVarP(&r.threads, "threads", "t", runtime.GOMAXPROCS(0), "worker threads, `N`; the result is the same for any number")
	f.Var(&r.memory, "memory", "memory to stay within, `SIZE` of 96MB or more, roughly (default: half of what is allowed)")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "no progress and no summary on standard error, only warnings and errors")
	f.BoolVar(&r.json, "json", false, "the result on standard output as JSON, for scripts")
}

// heapInLargePages is how much of the heap has large pages, if the command may use as much: to ask for that takes 10 ms.
const heapInLargePages = 8 << 30

// askForHeap asks for them, once in a process.
var askForHeap = sync.OnceFunc(func() { largepages.AskForHeap(heapInLargePages) })

// garbagePercent is how much the heap grows, in percent of what was in use and of the ballast, before garbage is collected.
// Nearly all of a large heap is large arrays: frequent collections take little time and halve the garbage.
const garbagePercent = 30

// leastGarbage is by how much the heap grows at least before garbage is collected, unless --memory is little. Small samples have heaps of
// a few megabytes: at 30 percent of those, collections would take a fifth of the processor time.
const leastGarbage = 16 << 20

// ballast is never written to, so that the system gives it no memory. The runtime counts it as memory in use, so that the heap grows by up
// to leastGarbage more than the percentage of what is in use. To change the percentage after each collection would do the same, but the
// runtime would set the next goal first, by the percentage that was right before.
var ballast []byte

// limitMemory has garbage collected in time for a heap that stays within memory. It is called before much was freed, because the runtime
// writes zeros to memory that was in use before.
func limitMemory(memory uint64) {
	if n := min(memory/16, leastGarbage) * 100 / garbagePercent; n != uint64(len(ballast)) {
		debug.SetGCPercent(-1) // otherwise garbage is collected for the ballast
		ballast = make([]byte, n)
	}
	debug.SetGCPercent(garbagePercent)
	debug.SetMemoryLimit(int64(min(memory-min(uncounted, memory/5), 1<<60)) + int64(len(ballast)))
}

// collectGarbage collects garbage, unless there can only be little.
func collectGarbage() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(heap); heap[0].Value.Uint64() > uint64(len(ballast))+leastGarbage/2 {
		runtime.GC()
	}
}

// limit returns how much memory the command may use: what --memory says, or its default.
func (r *resources) limit() size {
	if r.memory > 0 {
		return r.memory
	}
	return size(max(allowedMemory("/")/2, minMemory))
}

// start checks the flags, limits threads and memory, and starts to show the progress of the stages of a model, unless --quiet
// is given.
func (r *resources) start(s *streams, model ...stageModel) (*progress, error) {
	if r.threads < 1 || r.threads > maxThreads {
		return nil, usagef("--threads must be from 1 to %d", maxThreads)
	}
	if r.memory > 0 && r.memory < minMemory {
		return nil, usagef("--memory must be at least 96MB, not %s", r.memory.String())
	}
	r.began = time.Now()
	compress.MemoryLimit.Store(uint64(cmp.Or(r.memory, size(max(allowedMemory("/"), minMemory)))))
	r.memory = r.limit()
	runtime.GOMAXPROCS(r.threads)
	if r.memory >= heapInLargePages {
		askForHeap()
	}
	limitMemory(uint64(r.memory))
	s.log.event("limits", "threads", r.threads, "memory", uint64(r.memory))
	out := s.err
	if r.quiet {
		out = io.Discard
	}
	p := newProgress(out, s.terminal && !r.quiet, model, s.log)
	p.warnings = s.err
	return p, nil
}
