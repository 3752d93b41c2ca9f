package basemodel

import (
	"math"
	"sync"
	"sync/atomic"

	"orcomgo/bases"
)

// Sequence is a sequence of bases that is being decoded, or was. Its methods are safe for concurrent use.
type Sequence struct {
	n      int
	ends   []int    // of segments
	packed [][]byte // by segment; see pack
	model  *Model   // of the first segment's first coder; set at the end

	following atomic.Int32 // segments that are still to be decoded by a segmentFollower

	mu      sync.Mutex
	changed *sync.Cond // that what follows has changed
	decoded []int      // by segment: the bases of the sequence before this one are decoded as far as they are of the segment
	wanted  []int      // by segment: the least of these for which Wait waits, so that it is not woken in vain
	err     error
	ended   bool
}

// noneWanted: Wait waits for no base of a segment.
const noneWanted = math.MaxInt

func newSequence(n int) *Sequence {
	ends := segmentEnds(n)
	s := &Sequence{n: n, packed: make([][]byte, len(ends)), ends: ends, decoded: make([]int, len(ends)), wanted: make([]int, len(ends))}
	for k, from := 0, 0; k < len(ends); k++ {
		s.packed[k], s.wanted[k] = make([]byte, bases.PackedLen(ends[k]-from)+bases.Pad), noneWanted
		from = ends[k]
	}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// Len returns the number of bases, decoded or not.
func (s *Sequence) Len() int { return s.n }

// Append appends n bases, one a byte (0 to 3), from base pos on to dst. Wait must have returned for pos+n or more, and without an error.
func (s *Sequence) Append(dst []byte, pos, n int) []byte {
	if n == 0 {
		return dst
	}
	k := 0
	for pos >= s.ends[k] {
		k++
	}
	for n > 0 {
		from := 0
		if k > 0 {
			from = s.ends[k-1]
		}
		m := min(n, s.ends[k]-pos)
		dst = bases.Unpack(dst, s.packed[k], pos-from, m)
		pos, n, k = pos+m, n-m, k+1
	}
	return dst
}

// Packed returns packed bases, base i in byte i/4 at bits 2*(i%4), in which n bases of the sequence from base pos on have the numbers from
// at on. 16 bytes or more follow the last of them. They must not be changed. Wait must have returned as for Append.
func (s *Sequence) Packed(pos, n int) (packed []byte, at int) {
	from := 0
	for k, end := range s.ends {
		if pos+n <= end && pos >= from {
			return s.packed[k], pos - from
		}
		from = end
	}
	packed = make([]byte, bases.PackedLen(n)+bases.Pad) // they are of several segments
	bases.Pack(packed, s.Append(nil, pos, n))
	return packed, 0
}

// Wait returns when the first n bases are decoded, or decoding has ended. The error is that of the whole section if it ended, and
// wraps ErrCorrupt.
func (s *Sequence) Wait(n int) error {
	n = min(n+4*bases.Pad, s.n) // which Append reads along with them
	s.mu.Lock()
	defer s.mu.Unlock()
	for from, k := 0, 0; k < len(s.ends) && from < n; k++ {
		for !s.ended && s.decoded[k] < min(n, s.ends[k]) {
			s.wanted[k] = min(s.wanted[k], n, s.ends[k])
			s.changed.Wait()
		}
		from = s.ends[k]
	}
	if s.ended {
		return s.err
	}
	return nil
}

// Is reports whether the bases are those of packed ones, base i in byte i/4 at bits 2*(i%4), which 16 bytes follow. Model must have
// returned without an error.
func (s *Sequence) Is(packed []byte) bool {
	from := 0
	for k, end := range s.ends {
		if !bases.Equal(packed, from, s.packed[k], 0, end-from) {
			return false
		}
		from = end
	}
	return true
}

// Model waits until all bases are decoded and returns the model of Encoded.Model. An error wraps ErrCorrupt.
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
