package rangecoder

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"
)

// TestRuns: runs of zeros are written and read as by Adapt bit by bit, and the probabilities learn as they do there.
func TestRuns(t *testing.T) {
	r := rand.New(rand.NewSource(14))
	single, runs := NewRows(), NewRows()
	a, b := EncodeTo(nil), EncodeTo(nil)
	var rows [][]byte
	var zeros []int
	for i := range 4000 {
		row := make([]byte, r.Intn(60))
		for k := range row {
			if row[k] = byte(r.Intn(256)); k > 0 && i%2 == 0 && r.Intn(4) > 0 {
				row[k] = row[k-1]
			}
		}
		n, column := r.Intn(len(row)+1), uint32(i%16)
		if i%3 == 0 {
			n = len(row)
		}
		rows, zeros = append(rows, row), append(zeros, n)
		b.AdaptZeros(runs, row[:n], column)
		for _, v := range row[:n] {
			a.Adapt(0, &single[v&127][column], MaxCount)
		}
		if n < len(row) {
			a.Adapt(1, &single[row[n]&127][column], MaxCount)
			b.Adapt(1, &runs[row[n]&127][column], MaxCount)
		}
	}
	stream := a.Enc.Finish()
	if !bytes.Equal(stream, b.Enc.Finish()) || *single != *runs {
		t.Fatal("another stream is written, or other probabilities are learnt")
	}
	d, decoded := DecodeFrom(stream), NewRows()
	for i, row := range rows {
		if got := d.AdaptRun(decoded, row, uint32(i%16)); got != zeros[i] {
			t.Fatalf("run %d: %d zeros of %d bits, want %d", i, got, len(row), zeros[i])
		}
	}
	if err := d.Dec.Err(); err != nil || *decoded != *single {
		t.Fatalf("other probabilities are learnt where bits are decoded, or %v", err)
	}
}

// BenchmarkAdaptZeros encodes bits that are 0, under the rows of qualities that drift.
func BenchmarkAdaptZeros(b *testing.B) {
	r := rand.New(rand.NewSource(15))
	for _, stay := range []int{0, 4} { // one in so many changes
		rows, q := make([]byte, 1<<12), 38
		for i := range rows {
			if stay == 0 || r.Intn(stay) == 0 {
				q = min(max(q+r.Intn(7)-3, 2), 40)
			}
			rows[i] = byte(33 + q)
		}
		b.Run(fmt.Sprint(stay), func(b *testing.B) {
			t, c := NewRows(), EncodeTo(nil)
			b.SetBytes(int64(len(rows)))
			for b.Loop() {
				c.AdaptZeros(t, rows, 3)
			}
		})
	}
}

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
