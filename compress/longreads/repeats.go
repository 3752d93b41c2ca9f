package longreads

import (
	"orcomgo/bases"
	"orcomgo/compress/edits"
	"orcomgo/internal/tasks"
)

// Repeats returns, for each block of so many bases of the sequence, its pieces: stretches that are aligned to stretches before the block.
// They are versions that copies or joins added, and repeats of the genome.
func (s *Sequence) Repeats(block, threads int) [][]edits.Piece {
	all := make([][]edits.Piece, (s.n+block-1)/block)
	tasks.EachWorker(len(all), threads, func(int) func(int) {
		a := NewAligner(s)
		a.chainer.divided = true
		b := make(bases.Words, bases.WordsLen(block))
		return func(i int) {
			if a.chainer.limit = i * block; i == 0 {
				return // nothing is before it
			}
			n := min(block, s.n-i*block)
			b.Replace(0, s.bases, i*block, n)
			all[i] = a.Align(b, n)
		}
	})
	return all
}
