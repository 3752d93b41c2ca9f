package main

import (
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/pflag"
)

// resources are the flags for threads, memory and messages.
type resources struct {
	threads int
	memory  size
	quiet   bool
	json    bool
	began   time.Time
}

// minMemory is about what the program needs for any input; with less it would be slow.
const minMemory = 64 << 20

// uncounted is about how much memory the limit of the collector leaves out: the program itself, and what is allocated while it
// collects.
const uncounted = 14 << 20

// add defines --threads, --memory, --quiet and --json.
func (r *resources) add(f *pflag.FlagSet) {
	f.IntVarP(&r.threads, "threads", "t", runtime.GOMAXPROCS(0),
		"worker threads, `N`; the result is the same for any number\n($ORCOMGO_THREADS changes the default)")
	f.Var(&r.memory, "memory",
		"memory to stay within, `SIZE` of 64MiB or more, roughly (default: half of what the machine, its cgroup and ulimit allow;\n"+
			"$ORCOMGO_MEMORY changes that)")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "no progress and no summary on standard error")
	f.BoolVar(&r.json, "json", false, "the result on standard output as JSON, for scripts")
}

// garbagePercent is how much the heap grows, in percent, before garbage is collected. Nearly all of the heap is large arrays: frequent
// collections take little time and halve the garbage. Tests that run commands on a few records in their own process raise it: there
// collections would take most of the time.
var garbagePercent = 30

// limit returns how much memory the command may use: what --memory says, or its default.
func (r *resources) limit() size {
	if r.memory > 0 {
		return r.memory
	}
	return size(max(allowedMemory("/")/2, minMemory))
}

// start checks the flags, limits threads and memory, and starts to show the progress of the stages of a model. That is nil if
// nothing is to be shown.
func (r *resources) start(s *streams, model ...stageModel) (*progress, error) {
	if r.threads < 1 {
		return nil, usagef("--threads must be at least 1")
	}
	if r.memory > 0 && r.memory < minMemory {
		return nil, usagef("--memory must be at least 64MiB, not %s", r.memory.String())
	}
	r.began = time.Now()
	r.memory = r.limit()
	runtime.GOMAXPROCS(r.threads)
	debug.SetGCPercent(garbagePercent)
	// collect garbage before the heap exceeds the bound
	debug.SetMemoryLimit(int64(min(uint64(r.memory)-min(uncounted, uint64(r.memory)/5), 1<<60)))
	s.log.event("limits", "threads", r.threads, "memory", uint64(r.memory))
	switch {
	case !r.quiet:
		return newProgress(s.err, s.terminal, model, s.log), nil
	case s.log.opened():
		return newProgress(io.Discard, false, model, s.log), nil
	}
	return nil, nil
}
