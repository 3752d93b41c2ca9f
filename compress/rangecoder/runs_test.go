package rangecoder

import (
	"bytes"
	"math/rand"
	"testing"
)

// TestAdaptFirst: it codes as Adapt does bit by bit, to the first 1, and back.
func TestAdaptFirst(t *testing.T) {
	r := rand.New(rand.NewSource(162))
	var firsts, sizes []int
	for range 5000 {
		size := 1 + r.Intn(40)
		sizes, firsts = append(sizes, size), append(firsts, r.Intn(size+5))
	}
	want, got := EncodeTo(nil), EncodeTo(nil)
	a, b := NewProbs(45), NewProbs(45)
	for i, size := range sizes {
		for k := range min(firsts[i]+1, size) {
			want.Adapt(BitOf(k == firsts[i]), &a[k], MaxCount)
		}
		if k := got.AdaptFirst(b[:size], firsts[i]); k != min(firsts[i], size) {
			t.Fatalf("step %d: %d, want %d of %d", i, k, firsts[i], size)
		}
	}
	stream := want.Enc.Finish()
	if !bytes.Equal(got.Enc.Finish(), stream) {
		t.Fatal("other bytes than bit by bit")
	}
	c, p := DecodeFrom(stream), NewProbs(45)
	for i, size := range sizes {
		if k := c.AdaptFirst(p[:size], 0); k != min(firsts[i], size) {
			t.Fatalf("step %d is decoded to %d, want %d of %d", i, k, firsts[i], size)
		}
	}
	if err := c.Dec.Err(); err != nil {
		t.Error(err)
	}
}
