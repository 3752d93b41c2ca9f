package binning

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orcomgo/internal/tasks"
)

// pieces are the pieces of texts that are tested without a device.
type pieces struct {
	parts  int
	free   chan []byte
	fails  func(got int) error // of getting the next piece; nil: none
	got    atomic.Int64
	stored atomic.Int64 // copies
}

func newPieces(count, parts int) *pieces {
	p := &pieces{parts: parts, free: make(chan []byte, count)}
	for range count {
		p.free <- make([]byte, parts*fillPiece)
	}
	return p
}

// get waits until a piece is free.
func (p *pieces) get(store func(p []byte, at int) error) (textPiece, error) {
	if n := p.got.Add(1); p.fails != nil {
		if err := p.fails(int(n)); err != nil {
			return nil, err
		}
	}
	return &testPiece{<-p.free, p, store}, nil
}

type testPiece struct {
	mem   []byte
	of    *pieces
	store func(p []byte, at int) error
}

func (p *testPiece) Bytes() []byte { return p.mem }

// Store copies later, as a device does.
func (p *testPiece) Store(n, at int) error {
	p.of.stored.Add(1)
	err := p.store(p.mem[:n], at)
	clear(p.mem)
	p.Release()
	return err
}

func (p *testPiece) Release() { p.of.free <- p.mem }

// pieceTestText is a pieceText in memory of the host.
type pieceTestText struct {
	hostText
	pieces *pieces
	fails  func(at int) error // of Store; nil: none
}

func (t *pieceTestText) PieceParts() int { return t.pieces.parts }

func (t *pieceTestText) Fill(at, n int, f func(p []byte) (int, error)) (int, error) {
	if t.pieces.parts > 1 {
		return 0, errors.New("Fill of a text that has pieces")
	}
	return t.hostText.Fill(at, n, f)
}

func (t *pieceTestText) Piece() (textPiece, error) {
	return t.pieces.get(func(p []byte, at int) error {
		if t.fails != nil {
			if err := t.fails(at); err != nil {
				return err
			}
		}
		copy(t.buf[at:], p)
		return nil
	})
}

// TestFilling fills ranges of texts from several goroutines, two texts at a time that share few pieces.
func TestFilling(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	want := make([]byte, 9*fillPiece)
	for i := range want {
		want[i] = byte(rng.Uint32())
	}
	for _, parts := range []int{1, 2, 4} {
		for _, n := range []int{0, 1, fillPiece - 1, fillPiece, 4 * fillPiece, 4*fillPiece + 1, 8*fillPiece + 77} {
			for _, threads := range []int{1, 2, 5} {
				name := fmt.Sprintf("%d bytes, pieces of %d parts, %d threads", n, parts, threads)
				shared := newPieces(2, parts)
				var wg sync.WaitGroup
				for k := range 2 {
					wg.Go(func() {
						at := 1000 * k
						text := &pieceTestText{hostText: hostText{buf: make([]byte, len(want))}, pieces: shared}
						filling := newFilling(text, at, n)
						newPool(threads).run(filling.count(), func(i int) {
							err := filling.fill(i, func(p []byte) error {
								copy(p, want[i*fillPiece:n])
								return nil
							})
							if err != nil {
								t.Errorf("%s: %v", name, err)
							}
						})
						filling.end()
						if !bytes.Equal(text.buf[at:at+n], want[:n]) {
							t.Errorf("%s: another text was stored", name)
						}
						if rest := text.buf[at+n:]; bytes.Count(rest, []byte{0}) < len(rest) {
							t.Errorf("%s: what follows was changed", name)
						}
					})
				}
				wg.Wait()
				copies := 0
				if parts > 1 {
					copies = 2 * ((n + parts*fillPiece - 1) / (parts * fillPiece))
				}
				if got := int(shared.stored.Load()); got != copies || len(shared.free) != 2 {
					t.Errorf("%s: %d copies, want %d; %d pieces are free", name, got, copies, len(shared.free))
				}
			}
		}
	}
}

// TestFillingErrors: an error of reading, of getting a piece or of storing it is returned, and afterwards all pieces are free.
func TestFillingErrors(t *testing.T) {
	bad := errors.New("bad")
	const count = 11
	for failing := range count {
		for _, what := range []string{"read", "piece", "store"} {
			p := newPieces(2, 3)
			text := &pieceTestText{hostText: hostText{buf: make([]byte, count*fillPiece)}, pieces: p}
			switch what {
			case "piece":
				p.fails = func(got int) error {
					if got == failing/3+1 {
						return bad
					}
					return nil
				}
			case "store":
				text.fails = func(at int) error {
					if at == failing/3*3*fillPiece {
						return bad
					}
					return nil
				}
			}
			filling := newFilling(text, 0, len(text.buf))
			var failed atomic.Bool
			newPool(3).run(filling.count(), func(i int) {
				if failed.Load() {
					return
				}
				err := filling.fill(i, func([]byte) error {
					if what == "read" && i == failing {
						return bad
					}
					return nil
				})
				if err != nil {
					failed.Store(true)
					if err != bad {
						t.Errorf("%s of part %d: %v", what, failing, err)
					}
				}
			})
			filling.end()
			if !failed.Load() || len(p.free) != 2 {
				t.Errorf("%s of part %d: failed %v, %d of 2 pieces are free", what, failing, failed.Load(), len(p.free))
			}
		}
	}
}

// TestFillingWaits: several texts whose goroutines together need more pieces than there are get on.
func TestFillingWaits(t *testing.T) {
	shared := newPieces(1, 4)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tasks.Each(6, 6, func(_, k int) {
			text := &pieceTestText{hostText: hostText{buf: make([]byte, 9*fillPiece)}, pieces: shared}
			filling := newFilling(text, 0, len(text.buf))
			newPool(3).run(filling.count(), func(i int) {
				if err := filling.fill(i, func(p []byte) error { p[k] = 1; return nil }); err != nil {
					t.Error(err)
				}
			})
			filling.end()
		})
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the goroutines wait for each other")
	}
}
