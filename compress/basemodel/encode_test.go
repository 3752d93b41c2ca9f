package basemodel

import (
	"bytes"
	"math"
	"testing"
)

// TestEncodeAhead: where each coder has two threads, it writes the stream, and leaves the model, that it does with one; the follower
// decodes that stream. Chunks may have a base or none.
func TestEncodeAhead(t *testing.T) {
	for _, n := range []int{1, 2, 3, 1000, 2*chunkBases - 1, 2 * chunkBases, 2*chunkBases + 1, 2*chunkBases + 4, 100_001} {
		b := repetitive(int64(n), n)
		one, model := encoded(b, Options{twoCoders: 1, Threads: 1})
		var follower *Sequence
		o := Options{twoCoders: 1, Threads: 8, Follow: func(s *Sequence) { follower = s }}
		if got := o.Goroutines(n); got != 2*min(2*n, 4) {
			t.Fatalf("%d bases: %d goroutines", n, got)
		}
		section, ahead := encoded(b, o)
		if !bytes.Equal(section, one) {
			t.Fatalf("%d bases: other bytes", n)
		}
		if !ahead.Equal(model) {
			t.Errorf("%d bases: another model", n)
		}
		if m, err := follower.Model(); err != nil || !m.Equal(model) {
			t.Errorf("%d bases: the decoder's model differs (error %v)", n, err)
		}
		if got := follower.Append(nil, 0, n); !bytes.Equal(got, b) {
			t.Errorf("%d bases: other bases are decoded", n)
		}
	}
}

// TestGoroutines: coders have two threads each if there are enough.
func TestGoroutines(t *testing.T) {
	for _, c := range []struct{ n, twoCoders, threads, want int }{
		{99, 100, 1, 1}, {99, 100, 8, 2}, {100, 100, 1, 1}, {100, 100, 2, 2}, {100, 100, 3, 2}, {100, 100, 4, 4}, {100, 100, 16, 4},
		{200, 100, 2, 2}, {200, 100, 7, 4}, {200, 100, 8, 8},
		{2 * segmentBases, 100, 4, 4}, {2 * segmentBases, 100, 7, 4}, {2 * segmentBases, 100, 8, 8}, {8 * segmentBases, 100, 8, 8},
		// The sequence is long enough, its segments are not.
		{segmentBases + 1, segmentBases + 1, 16, 4}, {math.MaxInt32, math.MaxInt32, 1024, 256},
	} {
		o := Options{Threads: c.threads, twoCoders: c.twoCoders}
		if got := o.Goroutines(c.n); got != c.want {
			t.Errorf("%d bases, two coders from %d on, %d threads: %d goroutines, want %d", c.n, c.twoCoders, c.threads, got, c.want)
		}
	}
}
