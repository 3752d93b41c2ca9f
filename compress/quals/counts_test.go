package quals

import (
	"math/rand"
	"testing"

	"orcomgo/bins/record"
)

// TestCountInTurn: pairs counted in several tables are those counted in one, for reads of any length, and the tables are zeros afterwards.
func TestCountInTurn(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 4 {
		in := Input{Records: 500}
		var lengths []uint32
		for i := range in.Records {
			n := r.Intn(12)
			if i%50 == 0 {
				n = 3000
			}
			lengths = append(lengths, uint32(n))
			level := byte(r.Intn(128))
			for range n {
				if r.Intn(4) == 0 {
					level = byte(r.Intn(128))
				}
				in.Quals = append(in.Quals, level)
			}
		}
		in.Lengths = record.Lengths{Each: lengths}
		var want, got counts
		want.count(&in)
		got.countInTurn(&in)
		if got != want {
			t.Fatal("the counts differ")
		}
	}
}

// TestBelow128 looks at each place of a column.
func TestBelow128(t *testing.T) {
	values := make([]byte, 21)
	for n := range len(values) + 1 {
		for i := range n {
			values[i] = 127
			if !below128(values[:n]) {
				t.Fatalf("127 at place %d of %d", i, n)
			}
			values[i] = 128
			if below128(values[:n]) {
				t.Fatalf("128 at place %d of %d", i, n)
			}
			values[i] = 0
		}
	}
}

func BenchmarkCounts(b *testing.B) {
	for name, in := range map[string]Input{"walk": fixed(randomWalk(1, span('#', 'J'), repeated(100, 8000))),
		"one": fixed(randomWalk(1, []byte("I"), repeated(100, 8000)))} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in.Quals)))
			for b.Loop() {
				countsOf(&in)
			}
		})
		b.Run(name+" in one table", func(b *testing.B) {
			b.SetBytes(int64(len(in.Quals)))
			for b.Loop() {
				new(counts).count(&in)
			}
		})
	}
}
