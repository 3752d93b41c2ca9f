package sim

import (
	"context"
	"io"

	"orcomgo/internal/tasks"
)

// Encoding turns the text of a chunk into what is written of it, appended to dst; each chunk must be decodable by itself when the
// results are concatenated. That of no text ends the file. Nil writes text.
type Encoding func(dst, text []byte) []byte

// Write simulates everything with the given number of workers and writes the chunks in
// order: first mates or unpaired reads to w1, second mates to w2. With w2 nil, pairs are
// interleaved in w1. What is written does not depend on the number of workers.
func (s *Simulator) Write(ctx context.Context, w1, w2 io.Writer, workers int, encode Encoding) error {
	if encode == nil {
		encode = func(dst, text []byte) []byte { return append(dst, text...) }
	}
	type chunk struct{ r1, r2, e1, e2 []byte }
	chunks := make([]chunk, 4*workers)
	for first := 0; first <= s.Chunks(); first += len(chunks) { // one more, which ends the file
		n := min(len(chunks), s.Chunks()+1-first)
		tasks.Each(n, workers, func(_, i int) {
			c := &chunks[i]
			c.r1, c.r2 = s.chunk(first+i, c.r1[:0], c.r2[:0], w2 == nil, nil)
			c.e1, c.e2 = encode(c.e1[:0], c.r1), encode(c.e2[:0], c.r2)
		})
		for i := range chunks[:n] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := w1.Write(chunks[i].e1); err != nil {
				return err
			}
			if w2 == nil {
				continue
			}
			if _, err := w2.Write(chunks[i].e2); err != nil {
				return err
			}
		}
	}
	return nil
}
