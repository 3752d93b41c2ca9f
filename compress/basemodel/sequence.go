package basemodel

import (
	"math"
	"sync"

	"orcomgo/bases"
)

// Sequence is a sequence of bases that is being decoded, or was. Its methods are safe for concurrent use.
type Sequence struct {
	n        int
	segments []segment
	packed   []byte      // base i in byte i/4 at bits 2*(i%4), and bases.Pad bytes more
	model    *Model      // of the first segment; set at the end
	progress func(n int) // Options.Progress

	mu      sync.Mutex
	changed *sync.Cond // that what follows has changed
	decoded []int      // by segment: the bases of the sequence before this one are decoded as far as they are of the segment
	wanted  []int      // by segment: the least of these for which Wait waits, so that it is not woken in vain
	err     error
	ended   bool
}

// noneWanted: Wait waits for no base of a segment.
const noneWanted = math.MaxInt

func newSequence(n int, segments []segment) *Sequence {
	s := &Sequence{n: n, segments: segments, packed: make([]byte, bases.PackedLen(n)+bases.Pad),
		decoded: make([]int, len(segments)), wanted: make([]int, len(segments))}
	for k := range s.wanted {
		s.wanted[k] = noneWanted
	}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// Len returns the number of bases, decoded or not.
func (s *Sequence) Len() int { return s.n }

// Segments returns how many segments are decoded, side by side as far as there are threads.
func (s *Sequence) Segments() int { return len(s.segments) }

// Append appends n bases, one a byte (0 to 3), from base pos on to dst. Wait must have returned for pos+n or more, and without an error.
func (s *Sequence) Append(dst []byte, pos, n int) []byte { return bases.Unpack(dst, s.packed, pos, n) }

// Packed returns the packed bases, base i in byte i/4 at bits 2*(i%4). 16 bytes or more follow the last of them. They must not be changed.
// Those for which Wait has returned without an error are decoded.
func (s *Sequence) Packed() []byte { return s.packed }

// Wait returns when the first n bases are decoded, or decoding has ended. The error is that of the whole section if it ended, and
// wraps ErrCorrupt.
func (s *Sequence) Wait(n int) error {
	n = min(n+4*bases.Pad, s.n) // which Append reads along with them
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, g := range s.segments {
		for g.from < n && !s.ended && s.decoded[k] < min(n, g.from+g.n) {
			s.wanted[k] = min(s.wanted[k], n, g.from+g.n)
			s.changed.Wait()
		}
	}
	if s.ended {
		return s.err
	}
	return nil
}

// Model waits until all bases are decoded and returns the model that Options.Model is called with. An error wraps ErrCorrupt.
func (s *Sequence) Model() (*Model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.ended {
		s.changed.Wait()
	}
	return s.model, s.err
}

// extend notes that the bases of segment k before base `to` of the sequence are decoded.
func (s *Sequence) extend(k, to int) {
	s.mu.Lock()
	s.decoded[k] = to
	wake := to >= s.wanted[k]
	if wake {
		s.wanted[k] = noneWanted
	}
	s.mu.Unlock()
	if wake {
		s.changed.Broadcast()
	}
}

// end notes that decoding has ended.
func (s *Sequence) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.changed.Broadcast()
}
