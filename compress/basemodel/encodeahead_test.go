package basemodel

import (
	"bytes"
	"math"
	"testing"
)

// TestEncodeAhead: where each coder has two threads, it writes the stream, and leaves the model, that it does with one; the follower
// decodes that stream. Chunks may have a base or none.
func TestEncodeAhead(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1000, 2*chunkBases - 1, 2 * chunkBases, 2*chunkBases + 1, 2*chunkBases + 4, 100_001} {
		b := repetitive(int64(n), n)
		one := Encode(n, sourceOf(b), Options{TwoCoders: 0, Threads: 1})
		var follower *Sequence
		o := Options{TwoCoders: 0, Threads: 4, Follow: func(s *Sequence) { follower = s }}
		if got := Goroutines(n, o.TwoCoders, o.Threads); got != 4 {
			t.Fatalf("%d bases: %d goroutines", n, got)
		}
		ahead := Encode(n, sourceOf(b), o)
		if !bytes.Equal(ahead.Section, one.Section) {
			t.Fatalf("%d bases: other bytes", n)
		}
		if !ahead.Model.Equal(one.Model) {
			t.Errorf("%d bases: another model", n)
		}
		if m, err := follower.Model(); err != nil || !m.Equal(one.Model) {
			t.Errorf("%d bases: the decoder's model differs (error %v)", n, err)
		}
		if got := follower.Append(nil, 0, n); !bytes.Equal(got, b) {
			t.Errorf("%d bases: other bases are decoded", n)
		}
	}
}

// TestGoroutines: coders of long segments have two threads each if there are enough.
func TestGoroutines(t *testing.T) {
	for _, c := range []struct{ n, twoCoders, threads, want int }{
		{99, 100, 8, 1}, {100, 100, 1, 1}, {100, 100, 2, 2}, {100, 100, 3, 2}, {100, 100, 4, 4}, {100, 100, 16, 4},
		{2 * segmentBases, 100, 4, 4}, {2 * segmentBases, 100, 7, 4}, {2 * segmentBases, 100, 8, 8}, {8 * segmentBases, 100, 8, 8},
		// The sequence is long enough, its segments are not.
		{segmentBases + 1, segmentBases + 1, 16, 2}, {math.MaxInt32, math.MaxInt32, 1024, 128},
	} {
		if got := Goroutines(c.n, c.twoCoders, c.threads); got != c.want {
			t.Errorf("%d bases, two coders from %d on, %d threads: %d goroutines, want %d", c.n, c.twoCoders, c.threads, got, c.want)
		}
	}
}

// TestPackedContext: what a context is packed from comes back, for the largest numbers, too.
func TestPackedContext(t *testing.T) {
	for _, want := range []blockStep{{}, {match: matchNodes - 1, joint: jointNodes - 1, set: weightSets - 1}, {match: 1, joint: 2, set: 3}} {
		var got blockStep
		if got.unpackContext(packContext(want.match, want.joint, want.set)); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
