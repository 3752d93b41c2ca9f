package fmindex

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// BenchmarkBuild builds the index of 12 million bases, or of as many as ORCOMGO_BASES says. A tenth of them are in repeats.
func BenchmarkBuild(b *testing.B) {
	n := 12_000_000
	if v, err := strconv.Atoi(os.Getenv("ORCOMGO_BASES")); err == nil {
		n = v
	}
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, n)
	for i := 0; i < n; i += 32 {
		w := r.Uint64()
		for j := range min(32, n-i) {
			text[i+j] = byte(w >> (2 * j) & 3)
		}
	}
	for range n / 60_000 {
		copy(text[r.IntN(n):], text[r.IntN(n-6000):][:6000])
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		c := Content{Text: text, Coverage: NewCoverage(len(text), Window), Literals: new(Literals), Begins: NewBegins(len(text))}
		if _, err := Build(c, runtime.GOMAXPROCS(0)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFindAll(b *testing.B) {
	r := rand.New(rand.NewPCG(0, 1))
	text := draw(r, 12_000_000)
	x := indexOf(b, text, nil, 2)
	for _, present := range []bool{true, false} {
		all := make([][]byte, 10000)
		for i := range all {
			all[i] = draw(r, 31)
			if present {
				copy(all[i], text[r.IntN(len(text)-31):])
			}
		}
		rows := make([]Rows, len(all))
		b.Run(fmt.Sprintf("present=%v", present), func(b *testing.B) {
			for b.Loop() {
				x.FindAll(all, rows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(all)), "ns/query")
		})
	}
}

func BenchmarkNear(b *testing.B) {
	r := rand.New(rand.NewPCG(0, 1))
	text := draw(r, 12_000_000)
	x := indexOf(b, text, nil, 2)
	for _, present := range []bool{true, false} {
		for most := range 5 {
			b.Run(fmt.Sprintf("present=%v/differences=%d", present, most), func(b *testing.B) {
				q := draw(r, 31)
				for b.Loop() {
					if present {
						copy(q, text[r.IntN(len(text)-31):])
					} else {
						q = draw(r, 31)
					}
					x.Near(q, most, func(Rows) bool { return true })
				}
			})
		}
	}
}

func BenchmarkLocate(b *testing.B) {
	r := rand.New(rand.NewPCG(0, 1))
	x := indexOf(b, draw(r, 12_000_000), nil, 2)
	rows := make([]uint32, 1000)
	for b.Loop() {
		for i := range rows {
			rows[i] = uint32(r.IntN(x.Len()))
		}
		if err := x.Locate(rows); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	file := indexOf(b, draw(rand.New(rand.NewPCG(0, 1)), 12_000_000), nil, 2).Bytes()
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, err := openFile(file); err != nil {
			b.Fatal(err)
		}
	}
}
