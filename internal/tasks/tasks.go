// Package tasks calls a function for many numbers from several goroutines: so many for each call, or those of a pool for all calls. It also
// has values that the first goroutine which needs them computes.
package tasks

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Each calls f(worker, i) for each i of 0 to n-1 from up to threads goroutines, at least one, and returns when all calls have. Each
// goroutine has a number, worker, below threads, and takes the next i that is left.
func Each(n, threads int, f func(worker, i int)) {
	EachWorker(n, threads, func(worker int) func(i int) { return func(i int) { f(worker, i) } })
}

// EachWorker is Each for functions that have memory of their own: every goroutine first calls newWorker and then the function that it
// returns. A fault that is a panic in the calling goroutine, see debug.SetPanicOnFault, is one there as well if another goroutine has it.
func EachWorker(n, threads int, newWorker func(worker int) func(i int)) {
	threads = min(threads, n)
	var next atomic.Int64
	work := func(worker int) {
		f := newWorker(worker)
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(i)
		}
	}
	panics := debug.SetPanicOnFault(true)
	debug.SetPanicOnFault(panics)
	var others sync.WaitGroup
	var fault atomic.Pointer[any]
	for worker := 1; worker < threads; worker++ {
		others.Go(func() {
			if panics {
				defer keepFault(&fault)
				debug.SetPanicOnFault(true)
			}
			work(worker)
		})
	}
	defer func() {
		others.Wait()
		if f := fault.Load(); f != nil {
			panic(*f)
		}
	}()
	if n > 0 {
		work(0)
	}
}

// keepFault is deferred where a fault is a panic. It keeps the first one.
func keepFault(first *atomic.Pointer[any]) {
	cause := recover()
	if _, ok := cause.(interface{ Addr() uintptr }); ok {
		first.CompareAndSwap(nil, &cause)
	} else if cause != nil {
		panic(cause)
	}
}
