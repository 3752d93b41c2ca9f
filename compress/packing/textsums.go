package packing

import (
	"context"
	"sync/atomic"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"orcomgo/compress/archive"
	"orcomgo/compress/restoring"
	"orcomgo/compress/source"
)

// textSum is the hash of a text, and its length.
type textSum struct{ hash, size uint64 }

// textSums sums and compares the texts of inputs, by member and kind of sum. A goroutine for each goes through the
// texts in their order and waits for no other, since all this has to keep up with the decoding of slices by many threads.
type textSums struct {
	ctx    context.Context
	queues [2][4]chan textOfInput
	free   chan []byte // memory for pieces of texts
}

// textOfInput is a text, or a piece of one, that an input goes on with.
type textOfInput struct {
	of    *summedText
	input int
	text  []byte
}

// Texts that are not rendered as a whole are in numPieces pieces of pieceLen bytes, or somewhat more, at a time.
const (
	numPieces = 16
	pieceLen  = 1 << 18
)

// startSums starts the goroutines, which are those of g. They end with ctx, or with close.
func (v *verification) startSums(ctx context.Context, g *errgroup.Group) *textSums {
	s := &textSums{ctx: ctx, free: make(chan []byte, numPieces)}
	for range numPieces {
		s.free <- nil
	}
	kinds := [...]func(c *restoring.TextCheck, text []byte) error{
		func(c *restoring.TextCheck, text []byte) error { c.Sums.AddSHA256(text); return nil },
		func(c *restoring.TextCheck, text []byte) error { c.Sums.AddMD5(text); return nil },
		(*restoring.TextCheck).Compare,
		(*restoring.TextCheck).AddToFile,
	}
	for m := range s.queues {
		for i, sum := range kinds {
			q := make(chan textOfInput, v.replay.Flight+numPieces)
			s.queues[m][i] = q
			g.Go(func() error {
				for t := range q {
					if err := ctx.Err(); err != nil {
						return err
					}
					if err := sum(v.checks[t.input], t.text); err != nil {
						return err
					}
					t.of.end()
				}
				return nil
			})
		}
	}
	return s
}

// close is called after all texts were added.
func (s *textSums) close() {
	for _, of := range s.queues {
		for _, q := range of {
			close(q)
		}
	}
}

// add has a text of member m of a slice summed.
func (s *textSums) add(of *summedText, m, input int, text []byte) {
	of.left.Add(int32(len(s.queues[m])))
	for _, q := range s.queues[m] {
		q <- textOfInput{of, input, text} // there is room for all pieces, and all slices in flight
	}
}

// addPieces has member m of a decoded slice rendered and summed, piece by piece: few threads would need more time for the fresh memory of
// the whole text. It returns the sum of the whole.
func (s *textSums) addPieces(m, input int, b *source.Decoded, man *archive.Manifest) (sum textSum, err error) {
	var hash xxh3.Hasher
	next := func(text []byte) ([]byte, error) {
		hash.Write(text)
		sum.size += uint64(len(text))
		of := newSummedText(func() { s.free <- text[:0] })
		s.add(of, m, input, text)
		of.end()
		return s.memory()
	}
	piece, err := s.memory()
	if err == nil {
		piece, err = b.TextPieces(piece, man, m, nil, pieceLen, next)
	}
	if err == nil {
		piece, err = next(piece)
	}
	if err == nil {
		s.free <- piece
	}
	sum.hash = hash.Sum64()
	return sum, err
}

// memory returns memory for a piece of text, once there is some.
func (s *textSums) memory() ([]byte, error) {
	select {
	case b := <-s.free:
		if cap(b) < pieceLen || cap(b) > 2*pieceLen {
			b = make([]byte, 0, pieceLen+pieceLen/8)
		}
		return b, nil
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	}
}

// summedText is a text that is being summed.
type summedText struct {
	left atomic.Int32 // sums that are still to be computed, and one while more may be added
	done func()
}

// newSummedText returns a text. done is called when end was called by who added it, and for each sum.
func newSummedText(done func()) *summedText {
	t := &summedText{done: done}
	t.left.Store(1)
	return t
}

func (t *summedText) end() {
	if t.left.Add(-1) == 0 {
		t.done()
	}
}
