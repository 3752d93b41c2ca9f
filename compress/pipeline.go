package compress

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// workers bounds how many columns are coded or decoded at once. A task holds its place
// only while it computes, never while it waits for another.
type workers struct {
	*places
	turn int // of tasks: see places
}

// newWorkers returns workers whose tasks begin in the order in which they come.
func newWorkers(threads int) workers { return workers{places: newPlaces(threads)} }

// inTurn returns the same workers for tasks that others with lower turns go before.
func (w workers) inTurn(turn int) workers { return workers{w.places, turn} }

// releaseWhile gives the place of the task that calls it to another while f, which waits, runs.
func (w workers) releaseWhile(f func()) {
	w.leave()
	f()
	w.enter(context.Background(), 0) // before all others: it has begun, and what it has in memory is freed at its end
}

// hold takes up to n places, as they become free, for goroutines that compute without taking one themselves, until that channel is closed.
// It returns at once.
func (w workers) hold(ctx context.Context, n int, until <-chan struct{}) {
	for range n {
		go w.do(ctx, func() error {
			<-until
			return nil
		})
	}
}

// do runs f once a worker is free, unless ctx ends first.
func (w workers) do(ctx context.Context, f func() error) error {
	if err := w.enter(ctx, w.turn); err != nil {
		return err
	}
	defer w.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f()
}

// onceWork is work that several goroutines need done: the first of them does it, the others
// wait without holding a worker.
type onceWork struct {
	taken atomic.Bool
	done  chan struct{}
	err   error
}

func newOnceWork() *onceWork { return &onceWork{done: make(chan struct{})} }

// wait returns once the work is done, with its error. The first caller does it, by its work.
func (g *onceWork) wait(ctx context.Context, work func() error) error {
	if g.taken.CompareAndSwap(false, true) {
		g.err = work()
		close(g.done)
		return g.err
	}
	if err := waitFor(ctx, g.done); err != nil {
		return err
	}
	return g.err
}

// inOrder calls produce for 0..n-1, up to inFlight of them at once, and consume for each
// result in ascending order, one at a time. A result counts as in flight until it is
// consumed, which is what bounds memory. The first error ends it all and is returned.
func inOrder[T any](ctx context.Context, n, inFlight int, produce func(context.Context, int) (T, error), consume func(int, T) error) error {
	return inOrderUntil(ctx, n, inFlight, produce, func(i int, v T, done func()) error {
		err := consume(i, v)
		done()
		return err
	})
}

// inOrderUntil is inOrder for results that are in flight until consume, or another goroutine then, has called done.
func inOrderUntil[T any](ctx context.Context, n, inFlight int, produce func(context.Context, int) (T, error),
	consume func(i int, v T, done func()) error) error {
	inFlight = min(max(inFlight, 1), max(n, 1))
	g, ctx := errgroup.WithContext(ctx)
	slots := make(chan struct{}, inFlight)
	// queue holds one channel a result, in order; sending to it never blocks, since slots bounds it.
	queue := make(chan chan T, inFlight)
	g.Go(func() error {
		defer close(queue)
		for i := range n {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			done := make(chan T, 1)
			queue <- done
			g.Go(func() error {
				v, err := produce(ctx, i)
				if err != nil {
					return err
				}
				done <- v
				return nil
			})
		}
		return nil
	})
	g.Go(func() error {
		i := 0
		for done := range queue {
			select {
			case v := <-done:
				if err := consume(i, v, func() { <-slots }); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			i++
		}
		return ctx.Err()
	})
	return g.Wait()
}

// Progress is told how far a stage has come: done of total, in bytes of text. It is called
// from any goroutine and must be cheap.
type Progress func(stage string, done, total uint64)

// meter adds up the progress of one stage.
type meter struct {
	report Progress
	stage  string
	done   atomic.Uint64
	total  uint64
	silent atomic.Bool // nothing is reported: a stage before this one still runs
}

func newMeter(report Progress, stage string, total uint64) *meter {
	m := &meter{report: report, stage: stage, total: total}
	m.add(0)
	return m
}

func (m *meter) add(n uint64) {
	if done := m.done.Add(n); m.report != nil && !m.silent.Load() {
		m.report(m.stage, done, m.total)
	}
}

// sliceMeter adds up the progress of a slice while its qualities and bases are coded or decoded.
type sliceMeter struct {
	m *meter
	// sizes returns how many bytes the slice counts in m, and how many qualities and bases it has. It is called when the first of these
	// are coded: while pack writes a slice, nothing is known of it before.
	sizes func() (bytes, units uint64)

	mu              sync.Mutex
	bytes           uint64 // once all is not 0
	all, done, told uint64 // units: 0 until they are known; of them; of bytes
}

// size asks for the sizes, once.
func (s *sliceMeter) size() {
	if s.all == 0 {
		s.bytes, s.all = s.sizes()
		s.all = max(s.all, 1)
	}
}

// coded notes that n more qualities or bases are coded. Safe for concurrent use.
func (s *sliceMeter) coded(n int) {
	s.mu.Lock()
	s.size()
	s.done = min(s.done+uint64(n), s.all)
	// What follows takes time, too.
	now := share(s.bytes-s.bytes/16, s.done, s.all)
	more := now - min(now, s.told)
	s.told += more
	s.mu.Unlock()
	if more > 0 {
		s.m.add(more)
	}
}

// end notes that all of the slice is done. It is called once.
func (s *sliceMeter) end() {
	s.mu.Lock()
	s.size()
	more := s.bytes - s.told
	s.told = s.bytes
	s.mu.Unlock()
	s.m.add(more)
}

// buffers recycles large byte slices between slices of records: a pool that garbage
// collection does not empty, since each would be tens of megabytes of fresh pages.
type buffers struct {
	mu   sync.Mutex
	free [][]byte
	keep int
}

// get returns an empty slice with room for n bytes.
func (p *buffers) get(n int) []byte {
	p.mu.Lock()
	best := -1
	for i, b := range p.free {
		if cap(b) >= n && (best < 0 || cap(b) < cap(p.free[best])) {
			best = i
		}
	}
	var b []byte
	if best >= 0 {
		b = p.free[best]
		p.free[best] = p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
	}
	if b == nil && len(p.free) > 0 {
		// One that is too small is freed in its place: slices are of nearly equal sizes, so the next will be too large for it as well.
		p.free = p.free[:len(p.free)-1]
	}
	p.mu.Unlock()
	if b == nil {
		b = make([]byte, 0, n+n/64)
	}
	return b[:0]
}

// put takes b back.
func (p *buffers) put(b []byte) {
	if cap(b) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < p.keep {
		p.free = append(p.free, b)
		return
	}
	for i := range p.free {
		if cap(p.free[i]) < cap(b) {
			p.free[i] = b
			return
		}
	}
}

// waitFor returns when c is closed, or with the error of ctx.
func waitFor(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
