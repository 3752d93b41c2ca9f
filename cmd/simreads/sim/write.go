package sim

import (
	"context"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Encoding turns the text of a chunk into what is written of it, appended to dst; each
// chunk must be decodable by itself when the results are concatenated. Nil writes text.
type Encoding func(dst, text []byte) []byte

// Write simulates everything with the given number of workers and writes the chunks in
// order: first mates or unpaired reads to w1, second mates to w2. With w2 nil, pairs are
// interleaved in w1. What is written does not depend on the number of workers.
func (s *Simulator) Write(ctx context.Context, w1, w2 io.Writer, workers int, encode Encoding) error {
	type chunk struct {
		r1, r2, e1, e2 []byte
		done           chan struct{}
	}
	pool := sync.Pool{New: func() any { return &chunk{done: make(chan struct{}, 1)} }}
	work, order := make(chan func()), make(chan *chunk, 2*workers)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(work)
		defer close(order)
		for i := range s.Chunks() {
			c := pool.Get().(*chunk)
			select {
			case order <- c:
			case <-ctx.Done():
				return ctx.Err()
			}
			job := func() {
				c.r1, c.r2 = s.Chunk(i, c.r1[:0], c.r2[:0])
				if w2 == nil && s.c.Paired {
					c.e1 = interleave(c.e1[:0], c.r1, c.r2, s.c.FASTA)
					c.r1, c.e1, c.r2 = c.e1, c.r1, c.r2[:0]
				}
				if encode != nil {
					c.e1, c.e2 = encode(c.e1[:0], c.r1), encode(c.e2[:0], c.r2)
				} else {
					c.r1, c.e1, c.r2, c.e2 = c.e1, c.r1, c.e2, c.r2
				}
				c.done <- struct{}{}
			}
			select {
			case work <- job:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range max(workers, 1) {
		group.Go(func() error {
			for f := range work {
				f()
			}
			return nil
		})
	}
	group.Go(func() error {
		for c := range order {
			select {
			case <-c.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			if _, err := w1.Write(c.e1); err != nil {
				return err
			}
			if w2 != nil {
				if _, err := w2.Write(c.e2); err != nil {
					return err
				}
			}
			pool.Put(c)
		}
		return nil
	})
	return group.Wait()
}

// interleave appends the records of both mates in turn. They are records of Chunk, so each has
// four lines, or two in FASTA.
func interleave(dst, r1, r2 []byte, fasta bool) []byte {
	lines := 4
	if fasta {
		lines = 2
	}
	record := func(b []byte) (n int) {
		for range lines {
			for b[n] != '\n' {
				n++
			}
			n++
		}
		return n
	}
	for len(r1) > 0 {
		n1, n2 := record(r1), record(r2)
		dst = append(append(dst, r1[:n1]...), r2[:n2]...)
		r1, r2 = r1[n1:], r2[n2:]
	}
	return dst
}
