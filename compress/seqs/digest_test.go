package seqs

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"sync/atomic"
	"testing"

	"orcomgo/bins/record"
)

// TestDigests: the sums are those of the reads, however blocks are cut into tasks and windows of exceptions, and change if a read does.
func TestDigests(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	random := func(n, minL, maxL int, odd float64) (c column) {
		for range n {
			s := make([]byte, minL+rng.Intn(maxL-minL+1))
			for i := range s {
				s[i] = "ACGT"[rng.Intn(4)]
				if rng.Float64() < odd {
					s[i] = "NRacg"[rng.Intn(5)]
				}
			}
			c.reads = append(c.reads, string(s))
		}
		return c
	}
	for _, k := range []struct {
		name          string
		cols          []column
		digestReads   uint32
		marks, tasks  int // tasks: how many are expected at least
		memory        uint64
		threads, each int
	}{
		{name: "whole blocks", cols: []column{random(900, 80, 80, 0.01)}, digestReads: 1 << 18, marks: 1 << 12, threads: 1, each: 300, tasks: 3},
		{name: "ranges of signatures", cols: []column{random(900, 80, 80, 0)}, digestReads: 50, marks: 1 << 12, threads: 4, each: 300, tasks: 9},
		{name: "windows", cols: []column{random(900, 0, 90, 0.05)}, digestReads: 100, marks: 16, memory: 1600, threads: 4, each: 300, tasks: 50},
		{name: "pair", cols: []column{random(500, 60, 60, 0.01), random(500, 0, 300, 0.2)}, digestReads: 100, marks: 64, memory: 16000,
			threads: 3, each: 200, tasks: 20},
	} {
		t.Run(k.name, func(t *testing.T) {
			r := archiveOf(t, record.Options{OrderAny: true}, k.each, k.cols...)
			var tasks atomic.Int64
			e := &Encoder{bins: r, cfg: Config{Threads: k.threads, Memory: k.memory, digestReads: k.digestReads, exceptionMarkEvery: k.marks}}
			e.cfg.Work = func(_ context.Context, f func() error) error {
				tasks.Add(1)
				return f()
			}
			var want []uint64
			for _, c := range k.cols {
				sum := uint64(0)
				for i, s := range c.reads {
					sum += ReadHash([]byte(s), uint64(i))
				}
				want = append(want, sum)
			}
			got, err := e.Digests(context.Background(), func(int) bool { return true })
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("digests %x, want %x (%v)", got, want, err)
			}
			if int(tasks.Load()) < k.tasks {
				t.Errorf("%d tasks, want %d or more", tasks.Load(), k.tasks)
			}
			if got, err := e.Digests(context.Background(), func(i int) bool { return i > 0 }); err != nil || got[0] != 0 ||
				!slices.Equal(got[1:], want[1:]) {
				t.Errorf("without the first input: digests %x, want %x (%v)", got, want, err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if _, err := e.Digests(ctx, func(int) bool { return true }); !errors.Is(err, context.Canceled) {
				t.Errorf("canceled: %v", err)
			}
		})
	}
	a, b := []byte("ACGT"), []byte("ACGA")
	if ReadHash(a, 1)+ReadHash(b, 2) == ReadHash(b, 1)+ReadHash(a, 2) || ReadHash(a, 1) == ReadHash(a, 2) || ReadHash(a, 1) == ReadHash(b, 1) {
		t.Error("a hash depends on the letters or on the ordinal alone")
	}
	if n := testing.AllocsPerRun(10, func() { ReadHash(make([]byte, 300)[:299], 7) }); n > 1 {
		t.Errorf("%g allocations a read", n)
	}
}

func BenchmarkDigests(b *testing.B) {
	rng := rand.New(rand.NewSource(1))
	var c column
	for i := range 100_000 {
		s := make([]byte, 100)
		for i := range s {
			s[i] = "ACGT"[rng.Intn(4)]
		}
		if i%100 == 0 {
			s[50] = 'N'
		}
		c.reads = append(c.reads, string(s))
	}
	r := archiveOf(b, record.Options{OrderAny: true}, len(c.reads), c)
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprint(threads), func(b *testing.B) {
			e := &Encoder{bins: r, cfg: Config{Threads: threads}}
			b.SetBytes(int64(100 * len(c.reads)))
			for b.Loop() {
				if _, err := e.Digests(context.Background(), func(int) bool { return true }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
