package overlap

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"orcomgo/internal/largepages"
	"orcomgo/internal/tasks"
)

// divide returns the t-th of `parts` nearly equal ranges of 0..n-1.
func divide(n, t, parts int) (from, to int) {
	return int(uint64(n) * uint64(t) / uint64(parts)), int(uint64(n) * uint64(t+1) / uint64(parts))
}

// eachInParallel calls f(t, i) for each i of 0..n-1, in ascending order, from up to `threads` goroutines (at least one), whose
// numbers are t. After an error, no calls for numbers after it begin. It returns the error of the smallest i that failed, or ctx.Err().
func eachInParallel(ctx context.Context, n, threads int, f func(t, i int) error) error {
	errs := make([]error, n)
	var failed atomic.Int64 // a number that failed, or n: those before it must still be tried
	failed.Store(int64(n))
	tasks.Each(n, threads, func(t, i int) {
		if ctx.Err() != nil || i > int(failed.Load()) {
			return
		}
		if errs[i] = f(t, i); errs[i] != nil {
			failed.Store(int64(i))
		}
	})
	return cmp.Or(append(errs, ctx.Err())...)
}

// inParallel calls f for consecutive ranges of 0..n-1, of `size` numbers but the last, from up to `threads` goroutines. worker,
// below threads, is the goroutine's number.
func inParallel(threads, n, size int, f func(worker, from, to int)) {
	tasks.Each((n+size-1)/size, threads, func(t, i int) { f(t, i*size, min((i+1)*size, n)) })
}

// taskRange is how many numbers selected and placeInParallel process at a time.
const taskRange = 1 << 13

// selected returns those of the numbers 0..n-1 for which f is true, ascending. It calls f from up to `threads` goroutines.
func selected(threads, n int, f func(i int) bool) []uint32 {
	parts := make([][]uint32, (n+taskRange-1)/taskRange)
	inParallel(threads, n, taskRange, func(_, from, to int) {
		var part []uint32
		for i := from; i < to; i++ {
			if f(i) {
				part = append(part, uint32(i))
			}
		}
		parts[from/taskRange] = part
	})
	return slices.Concat(parts...)
}

// placeInParallel places 0..n-1 one after another: it calls size for each of them, and then place with the sum of the sizes of those before
// it. It returns the sum of all. The calls are made from up to `threads` goroutines, not in order.
func placeInParallel(threads, n int, size func(i int) uint64, place func(i int, at uint64)) uint64 {
	sizes := make([]uint64, n)
	sums := make([]uint64, (n+taskRange-1)/taskRange)
	inParallel(threads, n, taskRange, func(_, from, to int) {
		sum := uint64(0)
		for i := from; i < to; i++ {
			sizes[i] = size(i)
			sum += sizes[i]
		}
		sums[from/taskRange] = sum
	})
	total := uint64(0)
	for k, sum := range sums {
		sums[k], total = total, total+sum
	}
	inParallel(threads, n, taskRange, func(_, from, to int) {
		at := sums[from/taskRange]
		for i := from; i < to; i++ {
			place(i, at)
			at += sizes[i]
		}
	})
	return total
}

// extended returns s with n more elements, which are zero, in new memory that up to `threads` goroutines fill.
func extended[T any](threads int, s []T, n int) []T {
	longer := largepages.Make[T](len(s) + n)
	inParallel(threads, len(s), 1<<16, func(_, from, to int) { copy(longer[from:to], s[from:to]) })
	return longer
}
