//go:build cuda

package cudakern

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// rings are those of the devices.
var rings = struct {
	sync.Mutex
	of map[*Device]*Ring
}{of: map[*Device]*Ring{}}

// pieceSize is how many bytes a piece of the tests' rings has.
const pieceSize = 1 << 20

// ringOf returns the device's ring, and makes it at the first call.
func ringOf(d *Device) (*Ring, error) {
	rings.Lock()
	defer rings.Unlock()
	r := rings.of[d]
	if r == nil {
		var err error
		if r, err = newRing(d, 4); err != nil {
			return nil, err
		}
		rings.of[d] = r
	}
	return r, nil
}

func newRing(d *Device, pieces int) (*Ring, error) {
	memory, err := NewHostMemory(pieces * pieceSize)
	if err != nil {
		return nil, err
	}
	return NewRing(d, memory, pieceSize)
}

// upload copies the text to the device through its ring.
func upload(l *Lane, text []byte) error {
	if err := l.GrowText(len(text), 0); err != nil {
		return err
	}
	ring, err := ringOf(l.dev)
	if err != nil {
		return err
	}
	for at := 0; at < len(text); at += pieceSize {
		p, err := ring.Get(context.Background())
		if err != nil {
			return err
		}
		if err := l.Upload(p, copy(p.Mem, text[at:]), at); err != nil {
			return err
		}
	}
	return nil
}

// TestTextBuffer: text that is uploaded in pieces, in any order, with memory that grows meanwhile,
// is what ReadText gives.
func TestTextBuffer(t *testing.T) {
	d := open(t)
	ring, err := newRing(d, 3)
	if err != nil {
		t.Fatal(err)
	}
	l := lane(t, d, 1<<20)
	rng := rand.New(rand.NewPCG(3, 3))
	text := make([]byte, 40<<20+12345)
	for i := range text {
		text[i] = byte(rng.Uint32())
	}
	for _, part := range [][2]int{{0, 900_000}, {900_000, 30 << 20}, {30 << 20, len(text)}} {
		if err := l.GrowText(part[1], part[0]); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for _, i := range rng.Perm((part[1] - part[0] + pieceSize - 1) / pieceSize) {
			wg.Add(1)
			go func() {
				defer wg.Done()
				at := part[0] + i*pieceSize
				p, err := ring.Get(context.Background())
				if err == nil {
					err = l.Upload(p, copy(p.Mem, text[at:min(at+pieceSize, part[1])]), at)
				}
				if err != nil {
					t.Error(err)
				}
			}()
		}
		wg.Wait()
	}
	got := make([]byte, len(text))
	if err := l.ReadText(got, 0); err != nil || !bytes.Equal(got, text) {
		t.Errorf("another text came back (%v)", err)
	}
	part := make([]byte, 1000)
	if err := l.ReadText(part, 31<<20); err != nil || !bytes.Equal(part, text[31<<20:][:1000]) {
		t.Errorf("another part came back (%v)", err)
	}
	for _, part := range [][2]int{{0, len(text)}, {12345, 12345}, {77, 78}, {1 << 20, 3<<20 + 5}, {len(text) - 3, len(text)}} {
		counts, err := l.CountLines(part[0], part[1])
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range counts {
			from := part[0] + i*CountPiece
			if want := bytes.Count(text[from:min(from+CountPiece, part[1])], []byte{'\n'}); n != want {
				t.Errorf("bytes %d to %d: piece %d has %d line ends, want %d", part[0], part[1], i, n, want)
			}
		}
		if len(counts) != (part[1]-part[0]+CountPiece-1)/CountPiece {
			t.Errorf("bytes %d to %d: %d counts", part[0], part[1], len(counts))
		}
	}
	p, err := ring.Get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Upload(p, pieceSize, l.TextRoom()-10); err == nil {
		t.Error("text was stored where there is no room")
	}
}

// TestRingContext: waiting for a piece ends with the context.
func TestRingContext(t *testing.T) {
	ring, err := ringOf(open(t))
	if err != nil {
		t.Fatal(err)
	}
	var pieces []*Piece
	for range cap(ring.free) {
		p, err := ring.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, p)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := ring.Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a ring without free pieces gave %v", err)
	}
	pieces[0].Release()
	if p, err := ring.Get(t.Context()); err != nil || p != pieces[0] {
		t.Errorf("a ring with one free piece gave %v", err)
	}
}
